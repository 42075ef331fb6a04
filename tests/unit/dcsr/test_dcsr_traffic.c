/* test_dcsr_traffic.c: the traffic of the three traversals: by hand on a tiny matrix, counted
   against expected on random ones, and the choice.  */
#include <math.h>

#include "conv/dcsr/dcsr_traffic.h"
#include "conv/dcsr/dcsr_traversal.h"
#include "tests/unit/check.h"
#include "tests/unit/dcsr/dcsr_random.h"

static int close_to(double x, double y)
{
  return fabs(x - y) <= 1e-12 * (1 + fabs(y));
}

static struct shunt_csr view(const struct owned *o)
{
  return (struct shunt_csr){o->a.rows, o->a.cols,       o->a.nnz,        o->offsets, o->columns,
                            o->values, o->a.index_type, o->a.value_type, o->a.base};
}

static int is(const struct shunt_traffic *t, double a, double b, double c_read, double c_written)
{
  return t->a == a && t->b == b && t->c_read == c_read && t->c_written == c_written &&
         shunt_traffic_total(t) == a + b + c_read + c_written;
}

/* The drawing of kernels/dcsr/dcsr_format.h in strips of 4, tiles of 2 rows, 2 dense columns. */
static void test_by_hand(void)
{
  static const struct entry e[] = {{0, 1, 0, 1}, {0, 4, 1, 1}, {2, 0, 2, 1},
                                   {2, 1, 3, 1}, {2, 7, 4, 1}, {4, 6, 5, 1}};
  struct entries m = {5, 8, 6, (struct entry *)(uintptr_t)e};
  struct owned o = source_new(&m, SHUNT_DCSR_FROM_CSR, SHUNT_I32, SHUNT_F32, 1);
  struct shunt_traffic_tiles tiles = {4, 2, 2};
  struct shunt_csr a = view(&o);
  struct shunt_traffic t[SHUNT_TRAVERSALS];
  struct shunt_traffic_counts c;
  double entropy, ssf, h = (log(6) - 2 * log(2) / 6) / log(6);

  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_OK && c.rows == 5 &&
            c.cols == 8 && c.nnz == 6 && c.strips == 2 && c.filled_rows == 3 && c.segments == 5 &&
            c.strip_columns == 8 && c.tile_columns == 6,
        "the counts of the drawing");
  check(close_to(entropy, h) && close_to(ssf, 6 * 3 / 2.5 * (1 - h)), "its entropy and skewness");
  check(shunt_traversal_by_ssf(ssf) == SHUNT_C_STATIONARY &&
            shunt_traversal_by_ssf(SHUNT_SSF_THRESHOLD) == SHUNT_B_STATIONARY,
        "and what SSF chooses");
  shunt_traffic_bytes(&c, &tiles, 3, SHUNT_I32, SHUNT_F32, t);
  check(is(&t[SHUNT_C_STATIONARY], 2 * 84, 6 * 12, 0, 5 * 12), "C-stationary: 300 bytes");
  check(is(&t[SHUNT_B_STATIONARY], 2 * 104, 8 * 12, 2 * 12, 7 * 12), "B-stationary: 412 bytes");
  check(is(&t[SHUNT_A_STATIONARY], 104, 6 * 12, 2 * 12, 7 * 12), "A-stationary: 284 bytes");
  check(shunt_traffic_choose(t) == SHUNT_A_STATIONARY, "which is chosen");
  t[SHUNT_B_STATIONARY] = t[SHUNT_C_STATIONARY];
  t[SHUNT_A_STATIONARY] = t[SHUNT_C_STATIONARY];
  check(shunt_traffic_choose(t) == SHUNT_C_STATIONARY, "among equals C-stationary is chosen");
  t[SHUNT_B_STATIONARY].c_read -= 1;
  check(shunt_traffic_choose(t) == SHUNT_B_STATIONARY, "B-stationary, when it moves least");
  source_free(&o);
}

/* A strip without entries is not loaded; the last strip is as wide as what is left. */
static void test_ragged(void)
{
  static const struct entry e[] = {{1, 0, 0, 1}, {1, 9, 1, 1}};
  struct entries m = {3, 10, 2, (struct entry *)(uintptr_t)e};
  struct owned o = source_new(&m, SHUNT_DCSR_FROM_CSR, SHUNT_I64, SHUNT_F64, 0);
  struct shunt_traffic_tiles tiles = {4, 64, 64};
  struct shunt_csr a = view(&o);
  struct shunt_traffic t[SHUNT_TRAVERSALS];
  struct shunt_traffic_counts c;
  double entropy, ssf;

  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_OK && c.strips == 3 &&
            c.segments == 2 && c.strip_columns == 6 && c.tile_columns == 2 && entropy == 1 &&
            ssf == 0,
        "ragged and empty strips; one entry a segment has entropy 1");
  shunt_traffic_bytes(&c, &tiles, 64, SHUNT_I64, SHUNT_F64, t);
  check(is(&t[SHUNT_C_STATIONARY], (2 + 3) * 8 + 2 * 16, 2 * 512, 0, 3 * 512),
        "one pass at n = 64");
  shunt_traffic_bytes(&c, &tiles, 65, SHUNT_I64, SHUNT_F64, t);
  check(t[SHUNT_C_STATIONARY].a == 2 * 72 && t[SHUNT_A_STATIONARY].a == (4 + 5) * 8 + 2 * 16,
        "two at 65, but A-stationary reads A once");
  source_free(&o);
}

static void test_empty(void)
{
  int64_t offsets[4] = {0};
  struct shunt_csr a = {3, 0, 0, offsets, offsets, NULL, SHUNT_I64, SHUNT_F32, 0};
  struct shunt_traffic_tiles tiles = shunt_traffic_tiles_default();
  struct shunt_traffic t[SHUNT_TRAVERSALS];
  struct shunt_traffic_counts c, x;
  double entropy, ssf;

  check(tiles.width == 64 && tiles.tile_rows == 64 && tiles.dense_columns == 64,
        "tiles are 64 by default");
  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_OK && c.segments == 0 &&
            entropy == 0 && ssf == 0,
        "a matrix without columns");
  shunt_traffic_expect(3, 0, 0, &tiles, &x);
  check(!memcmp(&c, &x, sizeof c), "of which nothing else is expected");
  shunt_traffic_bytes(&c, &tiles, 5, SHUNT_I32, SHUNT_F32, t);
  check(is(&t[SHUNT_C_STATIONARY], 8, 0, 0, 60) && is(&t[SHUNT_B_STATIONARY], 8, 0, 0, 60),
        "its C is still written");
}

/* A full matrix has nothing to chance. */
static void test_full(void)
{
  struct entries m = random_entries(70, 130, 1, 0);
  struct owned o = source_new(&m, SHUNT_DCSR_FROM_CSR, SHUNT_I32, SHUNT_F32, 0);
  struct shunt_traffic_tiles tiles = {64, 32, 64};
  struct shunt_csr a = view(&o);
  struct shunt_traffic_counts c, x;
  double entropy, ssf;

  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_OK && c.segments == 210 &&
            c.tile_columns == 390 && c.strip_columns == 130,
        "the counts of a full matrix");
  shunt_traffic_expect(70, 130, m.nnz, &tiles, &x);
  check(!memcmp(&c, &x, sizeof c), "are the expected ones");
  shunt_traffic_expect(70, 130, 2 * m.nnz, &tiles, &x);
  check(x.segments == 210, "also where entries repeat");
  source_free(&o);
  free(m.e);
}

static int within(double x, double mean, double share)
{
  return fabs(x - mean) <= share * mean;
}

static void test_expected(void)
{
  static const double densities[] = {0.002, 0.01, 0.05};
  struct shunt_traffic_tiles tiles = {48, 40, 64};

  for (int i = 0; i < 3; i++) {
    struct entries m = random_entries(700, 900, densities[i], 0);
    struct owned o = source_new(&m, SHUNT_DCSR_FROM_CSR, SHUNT_I32, SHUNT_F32, 0);
    struct shunt_csr a = view(&o);
    struct shunt_traffic_counts c, x;
    double entropy, ssf;
    shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf);
    shunt_traffic_expect(700, 900, m.nnz, &tiles, &x);
    check(within(c.filled_rows, x.filled_rows, 0.03) && within(c.segments, x.segments, 0.03) &&
              within(c.tile_columns, x.tile_columns, 0.03) && c.strips == x.strips &&
              within(c.strip_columns, x.strip_columns, 0.03),
          "density %.3f: %.0f segments, %.1f expected; %.0f columns of tiles, %.1f expected",
          densities[i], c.segments, x.segments, c.tile_columns, x.tile_columns);
    source_free(&o);
    free(m.e);
  }
}

static int by_place(const void *x, const void *y)
{
  const struct entry *a = x, *b = y;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return a->column < b->column ? -1 : a->column > b->column;
}

/* The same figures as `shunt inspect` for the paper's width, where columns ascend. */
static void test_structure(void)
{
  struct entries m = random_entries(300, 500, 0.05, 0);
  qsort(m.e, (size_t)m.nnz, sizeof *m.e, by_place);
  for (int64_t p = 0; p < m.nnz; p++) m.e[p].place = p;
  struct owned o = source_new(&m, SHUNT_DCSR_FROM_CSR, SHUNT_I64, SHUNT_F32, 0);
  struct shunt_traffic_tiles tiles = shunt_traffic_tiles_default();
  struct shunt_csr a = view(&o);
  struct shunt_traffic_counts c;
  struct shunt_structure s;
  struct shunt_profile f;
  double entropy, ssf;

  check(shunt_structure_csr_host(&a, &s) == SHUNT_OK &&
            shunt_profile_csr_host(&a, &f) == SHUNT_OK &&
            shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_OK &&
            (double)f.segments == c.segments && fabs(entropy - f.entropy) < 1e-6 &&
            fabs(ssf - f.ssf) < 1e-5 * ssf &&
            close_to(c.segments / c.strips / c.rows, s.strip_occupancy),
        "entropy, skewness and occupancy are those of the profile and of the structure");
  source_free(&o);
  free(m.e);
}

static void test_declined(void)
{
  int64_t offsets[2] = {0, 1}, columns[1] = {2};
  struct shunt_csr a = {1, 2, 1, offsets, columns, NULL, SHUNT_I64, SHUNT_F32, 0};
  struct shunt_traffic_tiles tiles = shunt_traffic_tiles_default();
  struct shunt_traffic_counts c;
  double entropy, ssf;

  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_E_ARGUMENT,
        "a column out of range");
  columns[0] = 1, tiles.width = 0;
  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_E_ARGUMENT,
        "strips of no width");
  tiles.width = 64, a.index_type = SHUNT_F32;
  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_E_UNSUPPORTED,
        "an index type that is none");
  a.index_type = SHUNT_I64, a.cols = INT64_MAX / 16;
  check(shunt_traffic_count_host(&a, &tiles, &c, &entropy, &ssf) == SHUNT_E_MEMORY,
        "columns beyond all memory");
}

int main(void)
{
  test_by_hand();
  test_ragged();
  test_empty();
  test_full();
  test_expected();
  test_structure();
  test_declined();
  return check_finish();
}
