/* test_row_clusters.c: orders of rows and counts of vectors, on the host: every row has one place,
   equal lists are found, counts agree with brute force, a matrix packed in an order comes back
   as it was and multiplies as it does.  */
#include <stdlib.h>
#include <string.h>

#include "conv/vector/row_clusters.h"
#include "conv/vector/vector_conv.h"
#include "kernels/common/host_element.h"
#include "kernels/vector/vector_kernels.h"
#include "tests/unit/check.h"

#define RANDOM_SEED 19
#include "tests/unit/random_csr.h"

/* ---- matrices -------------------------------------------------------------------- */

static int32_t *random_order(int64_t rows)
{
  int32_t *order = calloc((size_t)rows + 1, sizeof *order);

  for (int64_t i = 0; i < rows; i++) {
    int64_t j = (int64_t)(random_next() % (uint64_t)(i + 1));
    order[i] = order[j];
    order[j] = (int32_t)i;
  }
  return order;
}

/* Sets of `share` rows have one list, of which a row lacks some; they stand in a random order. */
static struct owned shuffled_matrix(int64_t rows, int64_t cols, double density, int share,
                                    double lost, shunt_type index, int base)
{
  struct owned o = owned_new(rows, cols, rows * cols, index, SHUNT_F16, base);
  int64_t lists = (rows + share - 1) / share, p = 0;
  unsigned char *there = calloc((size_t)(lists * cols) + 1, 1);
  int32_t *order = random_order(rows);

  for (int64_t i = 0; i < lists * cols; i++) there[i] = (unsigned char)chance(density);
  for (int64_t i = 0; i < rows; i++) {
    put(o.offsets, index, i, p + base);
    for (int64_t j = 0; j < cols; j++) {
      if (!there[order[i] / share * cols + j] || (lost > 0 && chance(lost))) continue;
      put(o.columns, index, p, j + base);
      shunt_store(o.a.values, p++, SHUNT_F16, (double)(random_next() % 17) - 8);
    }
  }
  put(o.offsets, index, rows, p + base);
  o.a.nnz = p;
  free(there);
  free(order);
  return o;
}

/* ---- orders ------------------------------------------------------------------------ */

static uint32_t *cluster(const struct owned *o)
{
  size_t bytes = shunt_row_clusters_host_bytes(&o->a);
  void *scratch = aligned_alloc(256, bytes);
  uint32_t *row_of = calloc((size_t)o->a.rows, sizeof *row_of);

  if (shunt_csr_cluster_rows_host(&o->a, row_of, scratch, bytes) != SHUNT_OK)
    memset(row_of, 0xff, (size_t)o->a.rows * sizeof *row_of);
  free(scratch);
  return row_of;
}

static int is_permutation(const uint32_t *row_of, int64_t rows)
{
  unsigned char *seen = calloc((size_t)rows, 1);
  int good = 1;

  for (int64_t i = 0; i < rows; i++) {
    good = good && row_of[i] < rows && !seen[row_of[i]];
    if (good) seen[row_of[i]] = 1;
  }
  free(seen);
  return good;
}

static int has(const struct owned *o, int64_t row, int64_t column)
{
  shunt_type type = o->a.index_type;
  int64_t base = o->a.base, end = get(o->offsets, type, row + 1) - base;

  for (int64_t p = get(o->offsets, type, row) - base; p < end; p++)
    if (get(o->columns, type, p) - base == column) return 1;
  return 0;
}

/* The slow way. */
static uint64_t count_vectors(const struct owned *o, const uint32_t *row_of)
{
  uint64_t vectors = 0;

  for (int64_t g = 0; g < o->a.rows; g += 8)
    for (int64_t j = 0; j < o->a.cols; j++) {
      int any = 0;
      for (int64_t i = g; i < g + 8 && i < o->a.rows; i++) any |= has(o, row_of ? row_of[i] : i, j);
      vectors += (uint64_t)any;
    }
  return vectors;
}

static int counts_right(const struct owned *o, const uint32_t *row_of,
                        struct shunt_vector_measure *m)
{
  return shunt_csr_vector_measure_host(&o->a, row_of, m) == SHUNT_OK && !m->irregular &&
         m->vectors == count_vectors(o, row_of);
}

/* ---- packed matrices ------------------------------------------------------------------- */

struct packed {
  struct shunt_vector v;
  void *memory;
  int good;
};

static struct packed pack(const struct owned *o, const uint32_t *row_of,
                          enum shunt_vector_order order, int height)
{
  struct shunt_vector_layout layout = {.order = order, .height = height, .listed = 1};
  struct packed k;

  k.memory = aligned_alloc(256, shunt_vector_bytes(&o->a, &layout));
  k.good = shunt_vector_lay_out(&o->a, &layout, k.memory, &k.v);
  memcpy(k.v.row_of, row_of, (size_t)o->a.rows * sizeof *row_of);
  k.good = k.good && shunt_csr_to_vector_host(&o->a, &layout, &k.v) == SHUNT_OK &&
           !k.v.counts->irregular;
  return k;
}

static int round_trip(const struct owned *o, const struct packed *k)
{
  size_t size = shunt_type_size(o->a.index_type);
  struct owned back =
      owned_new(o->a.rows, o->a.cols, o->a.nnz, o->a.index_type, SHUNT_F16, o->a.base);
  int same = shunt_vector_to_csr_host(&k->v, &back.a) == SHUNT_OK && back.a.nnz == o->a.nnz &&
             !memcmp(back.offsets, o->offsets, (size_t)(o->a.rows + 1) * size) &&
             !memcmp(back.columns, o->columns, (size_t)o->a.nnz * size) &&
             !memcmp(back.a.values, o->a.values, (size_t)o->a.nnz * 2);

  owned_free(&back);
  return same;
}

enum { N = 3 };

/* C = A B in small integers, which are exact, packed and not. */
static int multiplies(const struct owned *o, const struct packed *k)
{
  float *b = calloc((size_t)(o->a.cols * N), sizeof *b);
  uint16_t *half = calloc((size_t)(o->a.cols * N), sizeof *half);
  float *c = calloc((size_t)(o->a.rows * N), sizeof *c);
  float *right = calloc((size_t)(o->a.rows * N), sizeof *right);
  struct shunt_spmm p = {.a = o->a,
                         .b = {o->a.cols, N, N, 1, half, SHUNT_F16},
                         .c = {o->a.rows, N, N, 1, c, SHUNT_F32},
                         .alpha = {.host = 2},
                         .beta = {.host = 0},
                         .compute = SHUNT_F32};
  int same;

  for (int64_t i = 0; i < o->a.cols * N; i++) {
    b[i] = (float)(random_next() % 9) - 4;
    shunt_store(half, i, SHUNT_F16, (double)b[i]);
  }
  for (int64_t i = 0, e = 0; i < o->a.rows; i++)
    for (; e < get(o->offsets, o->a.index_type, i + 1) - o->a.base; e++) {
      int64_t j = get(o->columns, o->a.index_type, e) - o->a.base;
      for (int n = 0; n < N; n++)
        right[i * N + n] += 2 * (float)shunt_load(o->a.values, e, SHUNT_F16) * b[j * N + n];
    }
  same = shunt_vector_packed_spmm_host(&p, &k->v) == SHUNT_OK &&
         !memcmp(c, right, (size_t)(o->a.rows * N) * sizeof *c);
  free(b), free(half), free(c), free(right);
  return same;
}

/* ---- tests ------------------------------------------------------------------------- */

static void test_random(void)
{
  static const int64_t rows[] = {1, 7, 8, 41, 600};
  int orders = 1, counts = 1, rooms = 1, trips = 1, products = 1;

  for (int i = 0; i < 5; i++)
    for (int share = 1; share <= 8; share *= 2)
      for (int d = 0; d < 3; d++) {
        struct owned o = shuffled_matrix(rows[i], rows[i] > 100 ? 60 : 150, 0.2 * d, share, 0.1,
                                         d % 2 ? SHUNT_I64 : SHUNT_I32, i % 2);
        uint32_t *row_of = cluster(&o);
        struct shunt_vector_measure before, after;
        orders &= is_permutation(row_of, o.a.rows);
        counts &= counts_right(&o, NULL, &before) && counts_right(&o, row_of, &after);
        for (int order = 0; order < 2; order++) {
          int height = order ? 1 : shunt_vector_measured_height(&after);
          struct packed k = pack(&o, row_of, (enum shunt_vector_order)order, height);
          rooms &= k.good && k.v.counts->vectors == after.vectors;
          trips &= round_trip(&o, &k);
          products &= multiplies(&o, &k);
          free(k.memory);
        }
        free(row_of);
        owned_free(&o);
      }
  check(orders, "every row has one place");
  check(counts, "vectors are counted as brute force does, with an order and without");
  check(rooms, "a matrix has room with the height that was measured");
  check(trips, "csr -> vector in an order -> csr gives the same bytes");
  check(products, "the product's rows stand where they belong");
}

static double fill(const struct owned *o, const uint32_t *row_of)
{
  struct shunt_vector_measure m;

  shunt_csr_vector_measure_host(&o->a, row_of, &m);
  return shunt_vector_measured_fill(&o->a, &m);
}

static void test_fill(void)
{
  static const double lost[] = {0, 0, 0.05, 0.1, 0.2}, least[] = {1, 0.97, 0.7, 0.6, 0.4};

  for (int i = 0; i < 5; i++) {
    int64_t rows = i == 1 ? 645 : 640;
    struct owned o = shuffled_matrix(rows, 900, 0.1, 8, lost[i], SHUNT_I32, 0);
    uint32_t *row_of = cluster(&o);
    double before = fill(&o, NULL), after = fill(&o, row_of);
    check(before < 0.2 && after >= least[i], "%d shuffled rows that lost %.2f: fill %.3f to %.3f",
          (int)rows, lost[i], before, after);
    free(row_of);
    owned_free(&o);
  }
}

/* Offsets and columns that mean nothing. */
static void test_broken(void)
{
  struct owned o = shuffled_matrix(40, 100, 0.3, 8, 0, SHUNT_I32, 1);
  struct shunt_vector_measure m;
  uint32_t *row_of;
  int32_t *c = o.columns, *f = o.offsets;
  int good;

  c[0] = -5, c[3] = 1 << 30, f[2] = 1 << 30, f[5] = -7;
  row_of = cluster(&o);
  good = is_permutation(row_of, 40) &&
         shunt_csr_vector_measure_host(&o.a, row_of, &m) == SHUNT_OK &&
         m.irregular == SHUNT_IRREGULAR;
  check(good, "a matrix that is none gets a permutation, and is irregular");
  free(row_of);
  owned_free(&o);
}

static void test_declined(void)
{
  struct owned o = shuffled_matrix(40, 100, 0.3, 8, 0, SHUNT_I32, 1);
  size_t bytes = shunt_row_clusters_host_bytes(&o.a);
  char *scratch = aligned_alloc(256, bytes + 256);
  struct shunt_vector_measure m;
  uint32_t row_of[40];

  check(shunt_csr_cluster_rows_host(&o.a, row_of, scratch, bytes - 1) == SHUNT_E_WORKSPACE &&
            shunt_csr_cluster_rows_host(&o.a, row_of, scratch + 8, bytes) == SHUNT_E_WORKSPACE &&
            shunt_csr_cluster_rows_host(&o.a, row_of, NULL, bytes) == SHUNT_E_WORKSPACE,
        "scratch that is missing, too small or misaligned is declined");
  o.a.index_type = SHUNT_F32;
  check(shunt_row_clusters_host_bytes(&o.a) == 0 &&
            shunt_csr_cluster_rows_host(&o.a, row_of, scratch, bytes) == SHUNT_E_UNSUPPORTED &&
            shunt_csr_vector_measure_host(&o.a, NULL, &m) == SHUNT_E_UNSUPPORTED,
        "indices of no known type are declined");
  free(scratch);
  owned_free(&o);
}

int main(void)
{
  test_random();
  test_fill();
  test_broken();
  test_declined();
  return check_finish();
}
