/* test_tile.c: CSR to the `tile` format and back, on the host: by hand on tiny matrices,
   by the format's own rules, the census and the round trip on random ones.  What is refused:
   test_tile_refused.c; the product: test_tile_twin.c.  */
#include <math.h>

#include "conv/common/index.h"
#include "conv/coo/coo_conv.h"
#include "conv/dense/dense_conv.h"
#include "tests/unit/check.h"
#include "tests/unit/tile/tile_matrices.h"

/* Aligned tiles of `a` that hold an entry, and those of them that are 2:4, by the definition. */
static void count_slowly(const struct shunt_csr *a, int64_t *nonzero, int64_t *of_24)
{
  const int64_t across = a->cols / 32 + 1;
  unsigned char *there = calloc((size_t)(a->rows * across * 32), 1);

  for (int64_t i = 0; i < a->rows; i++)
    for (int64_t p = index_at(a->row_offsets, a->index_type, i) - a->base;
         p < index_at(a->row_offsets, a->index_type, i + 1) - a->base; p++)
      there[i * across * 32 + index_at(a->columns, a->index_type, p) - a->base] = 1;
  *nonzero = *of_24 = 0;
  for (int64_t t = 0; t < (a->rows + 15) / 16 * across; t++) {
    int any = 0, good = 1;
    for (int64_t i = t / across * 16; i < t / across * 16 + 16 && i < a->rows; i++)
      for (int64_t q = 0; q < 32; q += 4) {
        const unsigned char *x = &there[(i * across + t % across) * 32 + q];
        any |= x[0] | x[1] | x[2] | x[3];
        good &= x[0] + x[1] + x[2] + x[3] <= 2;
      }
    *nonzero += any;
    *of_24 += any && good;
  }
  free(there);
}

/* What is stored is what was counted, here and there. */
static int census_right(const struct owned *o, const struct shunt_tile *v, int how)
{
  const struct shunt_tile_census *c = v->census;
  struct shunt_tile_census alone;
  struct shunt_tile_shares share = shunt_tile_shares(v->rows, v->cols, c);
  int good = shunt_csr_tile_census_host(&o->a, how, &alone) == SHUNT_OK &&
             !memcmp(c, &alone, sizeof alone);
  int64_t nonzero, of_24;

  good &= c->sparse == v->sparse.begin[v->blocks] && c->halves == v->dense.begin[v->blocks];
  good &= (int64_t)(c->sparse_entries + c->dense_entries) == o->a.nnz;
  good &= (how & SHUNT_TILE_REORDER || c->reordered == 0) &&
          (v->order != NULL) == (how == SHUNT_TILE_REORDER);
  good &= !(how & SHUNT_TILE_DENSE) || c->sparse == 0;
  if (how & ~SHUNT_TILE_REORDER) return good && share.fill > 0 && share.fill <= 1;
  count_slowly(&o->a, &nonzero, &of_24);
  good &= (int64_t)(c->sparse + c->dense) == nonzero;
  good &= (int64_t)(c->sparse - c->reordered) == of_24;
  good &= fabs(share.sparse + share.dense - (nonzero > 0)) < 1e-12;
  return good && share.fill > 0 && share.fill <= 1;
}

/* ---- tests ------------------------------------------------------------------------------- */

#ifdef __SANITIZE_ADDRESS__ /* 64 blocks of rows take a minute; 7 end and begin alike */
enum { MANY_ROWS = 97 };
#else
enum { MANY_ROWS = 1009 };
#endif

static void test_random(void)
{
  static const int64_t rows[] = {1, 16, 33, MANY_ROWS}, cols[] = {1, 15, 32, 63, 200, 511};
  static const double densities[] = {0, 0.03, 0.3, 1};
  static const int hows[] = {0,
                             SHUNT_TILE_REORDER,
                             SHUNT_TILE_MERGE,
                             SHUNT_TILE_MERGE | SHUNT_TILE_REORDER,
                             SHUNT_TILE_DENSE,
                             SHUNT_TILE_DENSE | SHUNT_TILE_MERGE};

  for (int pattern = 0; pattern < PATTERNS; pattern++) {
    int trips = 1, rules = 1, chunks = 1, bounds = 1, census = 1;
    for (int n = 0; n < 4 * 6 * 4 * 6; n++) {
      int i = n % 4, j = n / 4 % 6, d = n / 24 % 4, how = hows[n / 96];
      struct owned o = random_matrix(rows[i], cols[j], densities[d], (enum pattern)pattern,
                                     d % 2 ? SHUNT_I64 : SHUNT_I32, (i + j) % 2);
      struct packed k = pack(&o, how, -1, -1);
      bounds &= !k.overrun && k.v.census->irregular == 0;
      trips &= round_trip(&o, &k);
      rules &= rules_hold(&k.v);
      chunks &= how & SHUNT_TILE_MERGE ? !k.v.chunk : chunks_right(&k.v);
      census &= census_right(&o, &k.v, how);
      free(k.memory);
      owned_free(&o);
    }
    check(bounds, "pattern %d: random matrices fit into the memory asked for", pattern);
    check(trips, "pattern %d: csr -> tile -> csr gives the same bytes", pattern);
    check(rules, "pattern %d: pairs ascend, columns ascend, what fills up is zero", pattern);
    check(chunks, "pattern %d: the table of chunks says what the lists hold", pattern);
    check(census, "pattern %d: the census agrees with the lists and with conv/profile/structure.c",
          pattern);
  }
}

/* One entry in 6400 chunks: the table would be larger than all else.  In 4096 it is made. */
static void test_few_tiles(void)
{
  for (int many = 0; many < 2; many++) {
    struct owned o =
        owned_new(many ? 16 * 80 : 16 * 64, many ? 64 * 80 : 64 * 64, 1, SHUNT_I32, SHUNT_F16, 0);
    struct packed k;
    for (int64_t r = 0; r <= o.a.rows; r++) put(o.offsets, SHUNT_I32, r, r > 70);
    put(o.columns, SHUNT_I32, 0, 100);
    ((uint16_t *)o.a.values)[0] = 1;
    o.a.nnz = 1;
    k = pack(&o, 1, -1, -1);
    check(!k.overrun && round_trip(&o, &k) && (k.v.chunk == NULL) == many &&
              (many || chunks_right(&k.v)),
          "one tile: %s table of chunks", many ? "no" : "with its");
    free(k.memory);
    owned_free(&o);
  }
}

static void put_row(struct owned *o, int r, int64_t *p, int count, const int *columns, int value)
{
  put(o->offsets, SHUNT_I32, r, *p);
  for (int i = 0; i < count; i++) {
    put(o->columns, SHUNT_I32, *p, columns[i]);
    ((uint16_t *)o->a.values)[(*p)++] = (uint16_t)(value + i);
  }
  o->a.nnz = *p;
}

/* Rows 0: columns 0, 3; 1: column 31; 8: columns 5, 6; no others. */
static void test_24_by_hand(void)
{
  struct owned o = owned_new(16, 32, 8, SHUNT_I32, SHUNT_F16, 0);
  struct packed k;
  int64_t p = 0;
  int good;

  for (int r = 0; r <= 16; r++)
    put_row(&o, r, &p, r == 0 || r == 8 ? 2 : r == 1,
            r == 0   ? (int[]){0, 3}
            : r == 8 ? (int[]){5, 6}
                     : (int[]){31},
            10 * r + 1);
  k = pack(&o, 0, -1, -1);
  good = k.v.sparse.begin[1] == 1 && k.v.dense.begin[1] == 0 && k.v.sparse.column[0] == 0;
  check(good, "one 2:4 tile");
  good = k.v.metadata[0] == 0x4494444cu; /* rows 8 and 0, quads 3 .. 0 */
  good = good && k.v.metadata[1] == 0x44444444u && k.v.metadata[2] == 0x44444444u;
  good = good && k.v.metadata[3] == 0x4444e444u; /* rows 9 and 1, quads 7 .. 4 */
  check(good, "its metadata, bit by bit");
  good = k.v.sparse.values[0] == 1 && k.v.sparse.values[1] == 2; /* lane 0, a[0]: row 0 */
  good = good && k.v.sparse.values[8 + 2] == 81;                 /* lane 1, a[1]: row 8 */
  good = good && k.v.sparse.values[8 + 3] == 82;                 /* quad 1 */
  good = good && k.v.sparse.values[7 * 8 + 5] == 11;             /* lane 7, a[2]: quad 7 */
  good = good && k.v.sparse.present[0] == 3 && k.v.sparse.present[1] == 12;
  good = good && k.v.sparse.present[7] == 32 && k.v.sparse.present[4] == 0;
  check(good, "its values and which of them are entries");
  free(k.memory);
  owned_free(&o);
}

/* Row 2: columns 16, 17, 18; row 10: column 31: one half of a dense tile. */
static void test_dense_by_hand(void)
{
  struct owned o = owned_new(16, 32, 8, SHUNT_I32, SHUNT_F16, 0);
  struct packed k;
  int64_t p = 0;
  int good;

  for (int r = 0; r <= 16; r++)
    put_row(&o, r, &p, r == 2 ? 3 : r == 10, r == 2 ? (int[]){16, 17, 18} : (int[]){31},
            10 * r + 1);
  k = pack(&o, 0, -1, -1);
  good = k.v.sparse.begin[1] == 0 && k.v.dense.begin[1] == 1 && k.v.dense.column[0] == 1;
  good = good && k.v.census->dense == 1 && k.v.census->halves == 1;
  check(good, "a dense tile, of which the right half is stored");
  good = k.v.dense.values[8 * 8] == 21 && k.v.dense.values[8 * 8 + 1] == 22;
  good = good && k.v.dense.values[9 * 8] == 23 && k.v.dense.values[9 * 8 + 1] == 0;
  good = good && k.v.dense.values[11 * 8 + 7] == 101; /* lane 11, a[3]: row 10, column 15 */
  good = good && k.v.dense.present[8] == 3 && k.v.dense.present[9] == 1;
  good = good && k.v.dense.present[11] == 128;
  check(good, "its values and which of them are entries");
  free(k.memory);

  k = pack(&o, 1, -1, -1);
  good = k.v.sparse.begin[1] == 1 && k.v.dense.begin[1] == 0 && k.v.census->reordered == 1;
  check(good && round_trip(&o, &k), "the same tile is 2:4 in another order");
  free(k.memory);
  owned_free(&o);
}

/* ---- orders of columns --------------------------------------------------------------------- */

static int order_works(const uint32_t rows[16], const uint8_t order[32])
{
  int good = 1;

  for (int r = 0; r < 16; r++)
    for (int q = 0; q < 8; q++) {
      int entries = 0;
      for (int i = 0; i < 4; i++) entries += rows[r] >> order[4 * q + i] & 1;
      good &= entries <= 2;
    }
  return good;
}

/* The columns of no two neighbouring quads are the same modulo 8. */
static int has_clash(const uint8_t order[32])
{
  int clash = 0;

  for (int m = 0; m < 4; m++) {
    unsigned residues = 0;
    for (int i = 0; i < 8; i++) residues |= 1u << order[8 * m + i] % 8;
    clash |= residues != 0xff;
  }
  return clash;
}

/* Of `tiles` tiles with about that many entries a row, how many find an order. */
static int orders_found(double density, int tiles, int *all_work, int *clashes)
{
  int found = 0;

  for (int n = 0; n < tiles; n++) {
    uint32_t rows[16] = {0};
    uint8_t order[32];
    for (int i = 0; i < 512; i++) rows[i / 32] |= (uint32_t)chance(density) << i % 32;
    if (!shunt_tile_order(rows, order)) continue;
    found++;
    *all_work &= order_works(rows, order);
    *clashes += has_clash(order);
  }
  return found;
}

static void test_orders(void)
{
  /* Columns 0 to 3 avoid each other; the empty ones take the first place left where none that
     is the same modulo 8 stands: 8 and 9 cannot stand with 0 and 1.  */
  static const uint8_t by_hand[32] = {0,  4,  5,  6,  1,  7,  10, 11, 2,  8,  9,
                                      12, 3,  13, 14, 15, 16, 17, 18, 19, 20, 21,
                                      22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  uint32_t rows[16] = {0};
  uint8_t order[32];
  int works = 1, clashes = 0;

  check(orders_found(0.1, 500, &works, &clashes) == 500,
        "random tiles of density 0.1 all find an order");
  check(orders_found(0.2, 500, &works, &clashes) >= 490, "of those of density 0.2, 98 %%");
  check(clashes < 50, "%d of these orders have rows on one bank, of 50 allowed", clashes);
  check(orders_found(0.3, 500, &works, &clashes) >= 350, "of those of density 0.3, 70 %%");
  check(works, "in these orders they are 2:4");
  for (int r = 0; r < 16; r++) rows[r] = 0x00ffff00u;
  check(shunt_tile_order(rows, order) && order_works(rows, order), "16 equal columns find one");
  for (int r = 0; r < 16; r++) rows[r] = r == 5 ? 15 : 0;
  check(shunt_tile_order(rows, order) && !memcmp(order, by_hand, 32), "an order by hand");
  for (int r = 0; r < 16; r++) rows[r] = r == 3 ? 0x00ffff01u : 0;
  check(!shunt_tile_order(rows, order), "a row of 17 entries does not");
}

/* ---- other formats --------------------------------------------------------------------------- */

static void test_others(void)
{
  struct owned o = random_matrix(37, 100, 0.2, ANYWHERE, SHUNT_I64, 1), from = o;
  int64_t *rows = calloc((size_t)o.a.nnz, 8), *offsets = calloc(38, 8);
  uint16_t *elements = calloc(37 * 100, 2);
  struct shunt_dense dense = {37, 100, 100, 1, elements, SHUNT_F16};
  uint32_t bad = 0;
  struct packed k;

  for (int64_t r = 0; r < 37; r++)
    for (int64_t p = ((int64_t *)o.offsets)[r]; p < ((int64_t *)o.offsets)[r + 1]; p++)
      rows[p - 1] = r + 1;
  shunt_coo_to_csr_host(37, o.a.nnz, rows, SHUNT_I64, 1, offsets, &bad);
  from.offsets = offsets, from.a.row_offsets = offsets;
  k = pack(&from, 1, -1, -1);
  check(!bad && round_trip(&o, &k), "coo -> csr -> tile -> csr");
  free(k.memory);

  for (int64_t p = 0; p < o.a.nnz; p++)
    ((uint16_t *)o.a.values)[p] |= 1; /* none is zero: dense keeps no stored zeros */
  shunt_csr_to_dense_host(&o.a, &dense, &bad);
  from = owned_new(37, 100, o.a.nnz, SHUNT_I64, SHUNT_F16, 1);
  shunt_dense_to_csr_host(&dense, &from.a);
  k = pack(&from, 1, -1, -1);
  check(!bad && round_trip(&o, &k), "dense -> csr -> tile -> csr");
  free(k.memory);
  owned_free(&from);
  owned_free(&o);
  free(rows);
  free(offsets);
  free(elements);
}

int main(void)
{
  test_24_by_hand();
  test_dense_by_hand();
  test_random();
  test_few_tiles();
  test_orders();
  test_others();
  return check_finish();
}
