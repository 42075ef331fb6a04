/* test_vector_host_format.c: CSR to the `vector` format and back, on the host: by hand on tiny
   matrices, by the format's own rules and the round trip on random ones.  */
#include <stdlib.h>
#include <string.h>

#include "conv/vector/vector_conv.h"
#include "tests/unit/check.h"

#define RANDOM_SEED 7
#include "tests/unit/random_csr.h"

/* ---- matrices -------------------------------------------------------------------- */

/* Values are bits. */
static void set_value(void *values, shunt_type type, int64_t i, uint32_t bits)
{
  if (type == SHUNT_F32)
    ((uint32_t *)values)[i] = bits;
  else
    ((uint16_t *)values)[i] = (uint16_t)bits;
}

static uint32_t value_of(const struct shunt_vector *v, int64_t i)
{
  return v->value_type == SHUNT_F32 ? ((const uint32_t *)v->values)[i]
                                    : ((const uint16_t *)v->values)[i];
}

/* Aligned sets of `height` rows share their lists; one value in nine is a stored zero. */
static struct owned random_matrix_of(shunt_type type, int64_t rows, int64_t cols, double density,
                                     int height, shunt_type index, int base)
{
  struct owned o = owned_new(rows, cols, rows * cols, index, type, base);
  unsigned char *list = calloc((size_t)cols + 1, 1);
  int64_t p = 0;

  for (int64_t i = 0; i < rows; i++) {
    put(o.offsets, index, i, p + base);
    for (int64_t j = 0; j < cols; j++) {
      if (i % height == 0) list[j] = (unsigned char)chance(density);
      if (!list[j]) continue;
      put(o.columns, index, p, j + base);
      set_value(o.a.values, type, p++, random_next() % 9 ? (uint32_t)random_next() : 0);
    }
  }
  put(o.offsets, index, rows, p + base);
  o.a.nnz = p;
  free(list);
  return o;
}

static struct owned random_matrix(int64_t rows, int64_t cols, double density, int height,
                                  shunt_type index, int base)
{
  return random_matrix_of(SHUNT_F16, rows, cols, density, height, index, base);
}

/* ---- a packed matrix --------------------------------------------------------------- */

struct packed {
  struct shunt_vector v;
  unsigned char *memory;
  size_t bytes;
  int overrun;
};

static struct packed pack(const struct owned *o, enum shunt_vector_order order, int height)
{
  struct shunt_vector_layout layout = {.order = order, .height = height};
  struct packed k;

  k.bytes = shunt_vector_bytes(&o->a, &layout);
  k.memory = malloc(k.bytes + 64);
  memset(k.memory, 0xee, k.bytes + 64);
  k.overrun = !shunt_vector_lay_out(&o->a, &layout, k.memory, &k.v) ||
              shunt_csr_to_vector_host(&o->a, &layout, &k.v) != SHUNT_OK;
  for (int i = 0; i < 64; i++) k.overrun |= k.memory[k.bytes + i] != 0xee;
  return k;
}

static int round_trip(const struct owned *o, const struct packed *k)
{
  shunt_type index = o->a.index_type;
  size_t size = shunt_type_size(index);
  shunt_type type = o->a.value_type;
  struct owned back = owned_new(o->a.rows, o->a.cols, o->a.nnz, index, type, o->a.base);
  int same = shunt_vector_to_csr_host(&k->v, &back.a) == SHUNT_OK && back.a.nnz == o->a.nnz &&
             !memcmp(back.offsets, o->offsets, (size_t)(o->a.rows + 1) * size) &&
             !memcmp(back.columns, o->columns, (size_t)o->a.nnz * size) &&
             !memcmp(back.a.values, o->a.values, (size_t)o->a.nnz * shunt_type_size(type));

  owned_free(&back);
  return same;
}

/* Unused slots are zeros, and a step's columns are those its strip may have. */
static int slots_right(const struct shunt_vector *v, int64_t step, int64_t strip)
{
  int good = 1;

  for (int s = 0; s < SHUNT_VECTOR_STEP; s++) {
    int64_t c = v->columns[step * SHUNT_VECTOR_STEP + s];
    int mask = v->masks[step * SHUNT_VECTOR_STEP + s];
    good &= c < v->cols;
    for (int r = 0; r < SHUNT_VECTOR_ROWS; r++)
      good &= (mask >> r & 1) ||
              value_of(v, step * SHUNT_VECTOR_STEP_VALUES + shunt_vector_place(r, s)) == 0;
    if (strip < 0) continue;
    good &= c / SHUNT_VECTOR_STRIP <= strip && c / SHUNT_VECTOR_STRIP > strip - SHUNT_VECTOR_STRIPS;
    good &= !mask || c % 8 == s % 8;
  }
  return good;
}

static int rules_hold(const struct shunt_vector *v)
{
  int good = 1;

  for (int64_t g = 0; g < v->groups; g++) {
    int64_t step = v->begin[g], end = step + v->count[g];
    if (v->order == SHUNT_VECTOR_SEQUENTIAL)
      for (; step < end; step++) good &= slots_right(v, step, -1);
    else
      for (int64_t p = 0; p < v->strips; p++)
        for (; step < v->begin[g] + (int64_t)v->strip_end[g * v->strips + p]; step++)
          good &= slots_right(v, step, p);
    good &= step == end;
    good &= g + 1 == v->groups || end <= v->begin[g + 1];
  }
  return good;
}

/* ---- tests ------------------------------------------------------------------------- */

static void test_random(void)
{
  static const int64_t rows[] = {1, 7, 8, 33}, cols[] = {1, 5, 63, 64, 200, 1111};
  static const double densities[] = {0, 0.03, 0.3, 1};
  int trips = 1, rules = 1, bounds = 1, fills = 1;

  for (int order = 0; order < 2; order++)
    for (int height = 1; height <= 16; height *= 2)
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
          for (int d = 0; d < 4; d++) {
            struct owned o =
                random_matrix_of((i + j + d) % 3 ? SHUNT_F16 : SHUNT_F32, rows[i], cols[j],
                                 densities[d], height, d % 2 ? SHUNT_I64 : SHUNT_I32, (i + j) % 2);
            struct packed k = pack(&o, (enum shunt_vector_order)order, height);
            double fill = shunt_vector_fill(&k.v, k.v.counts);
            bounds &= !k.overrun && k.v.counts->irregular == 0;
            trips &= round_trip(&o, &k);
            rules &= rules_hold(&k.v);
            fills &= fill > 0 && fill <= 1 && (height < 8 || rows[i] % 8 || fill == 1);
            free(k.memory);
            owned_free(&o);
          }
  check(bounds, "random matrices fit into the memory asked for");
  check(trips, "csr -> vector -> csr gives the same bytes, both orders");
  check(rules, "unused slots are zero, columns lie in their window and residue");
  check(fills, "the fill of 8 x 1 vectors is 1");
}

/* Rows 0 .. 7 with the list {1, 3} and values 10 r + i; row 5 lacks column 3. */
static void test_by_hand(void)
{
  struct owned o = owned_new(8, 20, 16, SHUNT_I32, SHUNT_F16, 0);
  uint16_t *values = o.a.values;
  const uint16_t *at;
  struct packed k;
  int good, p = 0;

  for (int r = 0; r < 8; r++) {
    put(o.offsets, SHUNT_I32, r, p);
    for (int i = 0; i < (r == 5 ? 1 : 2); i++) {
      put(o.columns, SHUNT_I32, p, 1 + 2 * i);
      values[p++] = (uint16_t)(10 * r + i);
    }
  }
  put(o.offsets, SHUNT_I32, 8, p);
  o.a.nnz = p;
  k = pack(&o, SHUNT_VECTOR_SEQUENTIAL, 4);
  good = k.v.begin[0] == 0 && k.v.count[0] == 1 && k.v.columns[0] == 1 && k.v.columns[1] == 3;
  good = good && k.v.masks[0] == 0xff && k.v.masks[1] == 0xdf && k.v.masks[2] == 0;
  at = k.v.values;
  good = good && at[4 * 4 * 3] == 30 && at[4 * 4 * 3 + 1] == 31; /* row 3 */
  good = good && at[4 * 4 * 5] == 50 && at[4 * 4 * 5 + 1] == 0;
  good = good && shunt_vector_fill(&k.v, k.v.counts) == 15.0 / 16;
  check(good, "a matrix packed by hand, sequential");
  free(k.memory);

  k = pack(&o, SHUNT_VECTOR_WINDOWED, 4);
  good = k.v.count[0] == 1 && k.v.strip_end[0] == 1;
  good = good && k.v.columns[1] == 1 && k.v.columns[3] == 3 && k.v.masks[3] == 0xdf;
  good = good && k.v.masks[0] == 0 && k.v.masks[11] == 0;
  at = k.v.values;
  good = good && at[4 * (4 * 3 + 0) + 1] == 30 && at[4 * (4 * 3 + 1) + 1] == 31;
  check(good, "the same, windowed");
  free(k.memory);
  owned_free(&o);
}

static int irregular(const struct owned *o, int order, int height)
{
  struct packed k = pack(o, (enum shunt_vector_order)order, height);
  int flagged = k.v.counts->irregular == SHUNT_IRREGULAR && !k.overrun && rules_hold(&k.v);
  struct owned back = owned_new(o->a.rows, o->a.cols, o->a.nnz, SHUNT_I32, SHUNT_F16, 0);

  flagged &= shunt_vector_to_csr_host(&k.v, &back.a) == SHUNT_E_ARGUMENT;
  owned_free(&back);
  free(k.memory);
  return flagged;
}

static void test_irregular(void)
{
  for (int order = 0; order < 2; order++) {
    struct owned o = random_matrix(16, 700, 0.3, 8, SHUNT_I32, 1);
    int32_t *c = o.columns, *f = o.offsets, kept;

    kept = c[5], c[5] = c[4];
    check(irregular(&o, order, 8), "a repeated column is irregular, order %d", order);
    c[5] = 700;
    check(irregular(&o, order, 8), "a column out of order too");
    c[5] = kept, kept = c[f[1] - 2], c[f[1] - 2] = 701;
    check(irregular(&o, order, 8), "a column beyond the last too");
    c[f[1] - 2] = kept, kept = c[0], c[0] = 0;
    check(irregular(&o, order, 8), "a column before the first too");
    c[0] = kept, kept = f[3], f[3] = f[4] + 1;
    check(irregular(&o, order, 8), "offsets that descend too");
    f[3] = 1 << 30;
    check(irregular(&o, order, 8), "offsets out of range too");
    f[3] = kept;
    owned_free(&o);
    o = random_matrix(64, 700, 0.3, 1, SHUNT_I32, 0);
    check(irregular(&o, order, 8), "rows that share nothing do not fit as 8 x 1 vectors");
    owned_free(&o);
  }
  /* Every eighth column: two vectors a step, where there is room for 16 of each. */
  struct owned o = owned_new(64, 4096, 64 * 512, SHUNT_I32, SHUNT_F16, 0);
  for (int i = 0; i <= 64; i++) put(o.offsets, SHUNT_I32, i, i * 512);
  for (int i = 0; i < 64 * 512; i++) put(o.columns, SHUNT_I32, i, i % 512 * 8);
  o.a.nnz = 64 * 512;
  check(irregular(&o, SHUNT_VECTOR_WINDOWED, 8),
        "columns of one residue do not fit a window order");
  owned_free(&o);
}

static void test_declined(void)
{
  struct owned o = random_matrix(16, 40, 0.5, 8, SHUNT_I32, 0);
  struct shunt_vector_layout layout = {.order = SHUNT_VECTOR_WINDOWED, .height = 8};
  struct shunt_vector v;

  check(shunt_vector_bytes(&o.a, &layout) > 0, "a 16-bit matrix can be packed");
  o.a.value_type = SHUNT_F32;
  check(shunt_vector_bytes(&o.a, &layout) > 0, "f32 can");
  layout.height = 3;
  check(shunt_vector_bytes(&o.a, &layout) == 0, "vectors of 3 rows cannot");
  layout.height = 8;
  o.a.value_type = SHUNT_F64;
  check(shunt_vector_bytes(&o.a, &layout) == 0 && !shunt_vector_lay_out(&o.a, &layout, NULL, &v) &&
            shunt_csr_to_vector_host(&o.a, &layout, &v) == SHUNT_E_UNSUPPORTED,
        "f64 cannot");
  owned_free(&o);
}

/* How many slots random patterns leave unused: what the kernels' cost is made of. */
static void test_unused(void)
{
  static const double density[] = {0.5, 0.2, 0.1, 0.05}, most[] = {1.10, 1.18, 1.32, 1.58};

  for (int i = 0; i < 4; i++) {
    struct owned o = random_matrix(256, 4096, density[i], 8, SHUNT_I32, 0);
    struct packed k = pack(&o, SHUNT_VECTOR_WINDOWED, 8);
    double slots = 16.0 * (double)k.v.counts->steps / (double)k.v.counts->vectors;
    check(k.v.counts->irregular == 0 && slots < most[i],
          "%.2f slots a vector at density %.2f, at most %.2f", slots, density[i], most[i]);
    free(k.memory);
    owned_free(&o);
  }
}

/* The profile tells 16 x 1 vectors from pairs of 8 x 1, and each from the next lower. */
static void test_profiled(void)
{
  for (int height = 16; height >= 1; height /= 2) {
    struct owned o = random_matrix(512, 2048, 0.1, height, SHUNT_I32, 1);
    struct shunt_profile f;
    shunt_profile_csr_host(&o.a, &f);
    check(shunt_vector_profiled_height(&f, 1) == height, "%d x 1 vectors are seen", height);
    f.groups_equal[0]--;
    check(height < 8 || (shunt_vector_profiled_height(&f, 1) == 4 &&
                         shunt_vector_profiled_height(&f, 0.9) == height),
          "one odd group of eight, %d x 1", height);
    f.merged_tiles = f.merged_blocks = 0;
    check(shunt_vector_profiled_height(&f, 0.9) == (height < 8 ? height : 8),
          "nothing known of blocks of 16, %d x 1", height);
    owned_free(&o);
  }
}

int main(void)
{
  test_profiled();
  test_by_hand();
  test_random();
  test_irregular();
  test_declined();
  test_unused();
  return check_finish();
}
