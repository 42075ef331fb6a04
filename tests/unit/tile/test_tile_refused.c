/* test_tile_refused.c: matrices that the `tile` format does not take: irregular ones, those
   that have no room, those of other types and sizes.  */
#include "tests/unit/check.h"
#include "tests/unit/tile/tile_matrices.h"

static int irregular(const struct owned *o, int64_t sparse_room, int64_t dense_room)
{
  struct packed k = pack(o, 0, sparse_room, dense_room);
  struct owned back = owned_new(o->a.rows, o->a.cols, o->a.nnz, SHUNT_I32, SHUNT_F16, 0);
  int flagged = k.v.census->irregular == SHUNT_IRREGULAR && !k.overrun && rules_hold(&k.v);

  flagged &= shunt_tile_to_csr_host(&k.v, &back.a) == SHUNT_E_ARGUMENT;
  owned_free(&back);
  free(k.memory);
  return flagged;
}

static void test_irregular(void)
{
  struct owned o = random_matrix(40, 700, 0.3, ANYWHERE, SHUNT_I32, 1);
  int32_t *c = o.columns, *f = o.offsets, kept = c[5];
  struct shunt_tile_census census;

  c[5] = c[4];
  check(irregular(&o, -1, -1), "a repeated column is irregular");
  check(shunt_csr_tile_census_host(&o.a, 0, &census) == SHUNT_OK &&
            census.irregular == SHUNT_IRREGULAR,
        "for the census too");
  c[5] = 700;
  check(irregular(&o, -1, -1), "a column out of order is irregular");
  c[5] = kept, kept = c[f[1] - 2], c[f[1] - 2] = 701;
  check(irregular(&o, -1, -1), "a column beyond the last too");
  c[f[1] - 2] = kept, kept = c[0], c[0] = 0;
  check(irregular(&o, -1, -1), "a column before the first too");
  c[0] = INT32_MIN;
  check(irregular(&o, -1, -1), "a column far before the first too");
  c[0] = kept, kept = f[3], f[3] = f[4] + 1;
  check(irregular(&o, -1, -1), "offsets that descend too");
  f[3] = 1 << 30;
  check(irregular(&o, -1, -1), "offsets out of range too");
  f[3] = 0;
  check(irregular(&o, -1, -1), "an offset below the base too");
  f[3] = kept, o.a.nnz--;
  check(irregular(&o, -1, -1), "an offset one beyond the last entry too");
  owned_free(&o);
}

static void test_room(void)
{
  struct owned o = random_matrix(50, 700, 0.12, MIXED, SHUNT_I32, 0);
  struct shunt_tile_census c;
  struct packed k;

  shunt_csr_tile_census_host(&o.a, 0, &c);
  check(c.sparse > 9 && c.dense > 9, "a matrix with tiles of both kinds");
  k = pack(&o, 0, (int64_t)c.sparse, (int64_t)c.halves);
  check(!k.overrun && !k.v.census->irregular && round_trip(&o, &k) && rules_hold(&k.v),
        "fits into the room that its census asks for");
  free(k.memory);
  check(irregular(&o, (int64_t)c.sparse - 1, -1), "not into room for one 2:4 tile less");
  check(irregular(&o, -1, (int64_t)c.halves - 1), "nor for one half less");
  check(irregular(&o, 0, 0), "nor into none");
  owned_free(&o);
}

static int declined(const struct shunt_csr *a)
{
  struct shunt_tile_layout layout = {0, -1, -1};
  struct shunt_tile_census census;
  struct shunt_tile v;

  return shunt_tile_bytes(a, &layout) == 0 && !shunt_tile_lay_out(a, &layout, NULL, &v) &&
         shunt_csr_to_tile_host(a, &layout, &v) == SHUNT_E_UNSUPPORTED &&
         shunt_csr_tile_census_host(a, 0, &census) == SHUNT_E_UNSUPPORTED;
}

static void test_declined(void)
{
  struct owned o = random_matrix(16, 40, 0.5, ANYWHERE, SHUNT_I32, 0);
  struct shunt_csr a = o.a;
  const struct shunt_tile_layout any = {0, -1, -1};
  const struct shunt_tile other = {.rows = 16, .cols = 40, .nnz = o.a.nnz + 1};

  struct packed k = pack(&o, 0, -1, -1);
  struct shunt_tile_layout few = {1, 5, 5}, many = {1, -1, -1};

  check(shunt_csr_to_tile_host(&a, &any, &other) == SHUNT_E_ARGUMENT, "not for another size");
  check(!declined(&o.a), "a 16-bit matrix can be packed");
  a.value_type = SHUNT_F32;
  check(declined(&a), "f32 cannot");
  a = o.a, a.index_type = SHUNT_F64;
  check(declined(&a), "nor with indices of another type");
  a = o.a, a.rows = 0;
  check(declined(&a), "nor without rows");
  a = o.a, a.cols = 0;
  check(declined(&a), "nor without columns");
  a = o.a, a.cols = INT32_MAX;
  check(declined(&a), "nor with 2^31 columns");
  a = o.a, a.rows = INT32_MAX;
  check(declined(&a), "nor with 2^31 rows");
  a = o.a, a.nnz = -1;
  check(declined(&a), "nor with fewer than no entries");
  a = o.a, a.rows = a.cols = 1 << 30, a.nnz = INT64_C(1) << 40;
  check(shunt_tile_bytes(&a, &many) == 0, "nor into room for more than 2^31 tiles");
  check(shunt_tile_bytes(&a, &few) > 0, "but into less");
  a = o.a, a.index_type = SHUNT_F64;
  check(shunt_tile_to_csr_host(&k.v, &a) == SHUNT_E_UNSUPPORTED, "back, to indices of a type");
  free(k.memory);
  owned_free(&o);
}

int main(void)
{
  test_irregular();
  test_room();
  test_declined();
  return check_finish();
}
