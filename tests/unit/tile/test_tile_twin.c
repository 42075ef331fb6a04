/* test_tile_twin.c: the product over the `tile` format on the host against the product
   over the CSR matrix that it was made from.  Values are small whole numbers, so that every sum
   is exact and the results are equal bit by bit.  */
#include <math.h>

#include "kernels/common/host_half.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/tile/tile_kernels.h"
#include "tests/unit/check.h"
#include "tests/unit/tile/tile_matrices.h"

static void set(void *to, int64_t i, shunt_type t, float x)
{
  if (t == SHUNT_F32)
    ((float *)to)[i] = x;
  else
    ((uint16_t *)to)[i] = t == SHUNT_F16 ? shunt_float_to_half(x) : shunt_float_to_bfloat(x);
}

static float load(const void *from, int64_t i, shunt_type t)
{
  if (t == SHUNT_F32) return ((const float *)from)[i];
  return t == SHUNT_F16 ? shunt_half_to_float(((const uint16_t *)from)[i])
                        : shunt_bfloat_to_float(((const uint16_t *)from)[i]);
}

static float whole(void)
{
  return (float)((int)(random_next() % 9) - 4);
}

/* At least one, which the compiler cannot know. */
static int64_t elements(const struct shunt_dense *m)
{
  int64_t all = m->col_stride == 1 ? m->rows * m->row_stride : m->cols * m->col_stride;

  return all > 0 ? all : 1;
}

/* Rows or columns are 3 elements apart from each other; all is filled. */
static struct shunt_dense dense_new(int64_t rows, int64_t cols, int by_column, shunt_type t)
{
  struct shunt_dense m = {rows, cols, by_column ? 1 : cols + 3, by_column ? rows + 3 : 1, NULL, t};

  m.values = calloc((size_t)elements(&m), 4);
  for (int64_t i = 0; i < elements(&m); i++) set(m.values, i, t, whole());
  return m;
}

/* ---- one product both ways --------------------------------------------------------------- */

struct product {
  struct owned a;
  struct packed k;
  struct shunt_spmm csr, tile; /* differ in c.values */
};

static struct product product_new(struct owned a, int reorder, int64_t n, int layouts, shunt_type t,
                                  shunt_type out)
{
  struct product q = {.a = a};

  q.a.a.value_type = t;
  for (int64_t p = 0; p < a.a.nnz; p++) set(a.a.values, p, t, whole());
  q.k = pack(&q.a, reorder, -1, -1);
  q.csr.a = q.a.a;
  q.csr.b = dense_new(a.a.cols, n, layouts & 1, t);
  q.csr.c = dense_new(a.a.rows, n, layouts & 2, out);
  q.csr.alpha.host = 1;
  q.csr.compute = SHUNT_F32;
  q.tile = q.csr;
  q.tile.c.values = calloc((size_t)elements(&q.csr.c), 4);
  return q;
}

static void product_free(struct product *q)
{
  owned_free(&q->a);
  free(q->k.memory);
  free(q->csr.b.values);
  free(q->csr.c.values);
  free(q->tile.c.values);
}

/* Equal, the gaps between rows included; any NaN equals any other. */
static int same(const struct product *q)
{
  int good = 1;

  for (int64_t i = 0; i < elements(&q->csr.c); i++) {
    float x = load(q->csr.c.values, i, q->csr.c.type);
    float y = load(q->tile.c.values, i, q->csr.c.type);
    good &= isnan(x) ? isnan(y) : shunt_float_bits(x) == shunt_float_bits(y);
  }
  return good;
}

static int agree(struct product *q, double alpha, double beta)
{
  q->csr.alpha.host = q->tile.alpha.host = alpha;
  q->csr.beta.host = q->tile.beta.host = beta;
  memcpy(q->tile.c.values, q->csr.c.values, (size_t)elements(&q->csr.c) * 4);
  return !q->k.overrun && shunt_csr_spmm_host(&q->csr) == SHUNT_OK &&
         shunt_tile_spmm_host(&q->tile, &q->k.v) == SHUNT_OK && same(q);
}

static void poison_c(struct product *q)
{
  for (int64_t i = 0; i < elements(&q->csr.c); i++) set(q->csr.c.values, i, q->csr.c.type, NAN);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void test_random(void)
{
  static const int64_t rows[] = {1, 16, 45}, cols[] = {1, 31, 100}, ns[] = {1, 8, 21};
  static const double densities[] = {0, 0.1, 0.5};
  static const double alphas[] = {1, -2, 0}, betas[] = {0, 1, -0.5};

  for (int pattern = 0; pattern < PATTERNS; pattern++)
    for (int reorder = 0; reorder < 6; reorder++) {
      int good = 1;
      for (int n = 0; n < 27 * 4; n++) {
        shunt_type t = n % 2 ? SHUNT_F16 : SHUNT_BF16;
        struct owned a =
            random_matrix(rows[n % 3], cols[n / 3 % 3], densities[n / 9 % 3], (enum pattern)pattern,
                          n % 5 ? SHUNT_I32 : SHUNT_I64, n / 2 % 2);
        struct product q =
            product_new(a, reorder, ns[(n + n / 9) % 3], n / 27, t, n % 7 < 3 ? SHUNT_F32 : t);
        for (int e = 0; e < 3; e++) good &= agree(&q, alphas[(n + e) % 3], betas[(n / 3 + e) % 3]);
        product_free(&q);
      }
      check(good, "equals the product over CSR, pattern %d, packed in way %d", pattern, reorder);
    }
}

/* NaN, Inf and -Inf in rows of B that A has entries, stored zeros or nothing for. */
static void test_not_finite(void)
{
  static const float poison[] = {NAN, INFINITY, -INFINITY};

  for (int reorder = 0; reorder < 6; reorder++)
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
      int good = 1, some = 0, spared = 0;
      for (int n = 0; n < 24; n++) {
        struct product q =
            product_new(random_matrix(40, 90, 0.15, (enum pattern)pattern, SHUNT_I32, 0), reorder,
                        10, n / 2 % 4, SHUNT_F16, n % 2 ? SHUNT_F16 : SHUNT_F32);
        for (int i = 0; i < 5; i++)
          set(q.csr.b.values, (int64_t)(random_next() % (uint64_t)elements(&q.csr.b)), SHUNT_F16,
              poison[random_next() % 3]);
        poison_c(&q); /* beta is 0: not read */
        for (int64_t i = 0; i < elements(&q.csr.c); i += 97)
          set(q.csr.c.values, i, q.csr.c.type, 1);
        good &= agree(&q, 1, 0);
        for (int64_t i = 0; i < 40 * 10; i++) {
          int64_t at = i / 10 * q.csr.c.row_stride + i % 10 * q.csr.c.col_stride;
          float x = load(q.csr.c.values, at, q.csr.c.type);
          some += !isfinite(x);
          spared += isfinite(x);
        }
        product_free(&q);
      }
      check(good && some > 50 && spared > 50,
            "NaN and Inf of B reach what they should, pattern %d, packed in way %d", pattern,
            reorder);
    }
}

/* One 2:4 tile and one dense one; B all ones but row k, which is `x`. */
static float element_of(int dense, int stored_zero, int64_t k, float x)
{
  struct owned o = owned_new(16, 32, 8, SHUNT_I32, SHUNT_F16, 0);
  struct product q;
  int count = dense ? 3 : 1;
  float result;

  for (int i = 0; i < count; i++) put(o.columns, SHUNT_I32, i, i);
  for (int r = 1; r <= 16; r++) put(o.offsets, SHUNT_I32, r, count);
  o.a.nnz = count;
  q = product_new(o, 0, 1, 0, SHUNT_F16, SHUNT_F32);
  for (int i = 0; i < count; i++) set(o.a.values, i, SHUNT_F16, stored_zero ? 0 : 1);
  free(q.k.memory);
  q.k = pack(&q.a, 0, -1, -1);
  for (int64_t i = 0; i < elements(&q.csr.b); i++)
    set(q.csr.b.values, i, SHUNT_F16, i / q.csr.b.row_stride == k ? x : 1);
  result = agree(&q, 1, 0) ? load(q.tile.c.values, 0, SHUNT_F32) : -1;
  if (q.k.v.census->dense != (uint64_t)dense) result = -1;
  product_free(&q);
  return result;
}

static void test_zeros_by_hand(void)
{
  check(element_of(0, 0, 1, NAN) == 1, "2:4: NaN meets a filled-up zero: no trace");
  check(element_of(0, 0, 1, INFINITY) == 1, "so does Inf");
  check(isnan(element_of(0, 1, 0, INFINITY)), "2:4: Inf meets a stored zero: NaN");
  check(element_of(0, 0, 0, INFINITY) == INFINITY, "2:4: Inf meets an entry: Inf");
  check(element_of(1, 0, 9, NAN) == 3, "dense: NaN meets a filled-up zero: no trace");
  check(isnan(element_of(1, 1, 2, NAN)), "dense: NaN meets a stored zero: NaN");
  check(isnan(element_of(1, 0, 2, NAN)), "dense: NaN meets an entry: NaN");
}

static void test_scalars(void)
{
  struct product q =
      product_new(random_matrix(20, 40, 0.2, MIXED, SHUNT_I32, 0), 1, 9, 0, SHUNT_BF16, SHUNT_F32);
  float alpha = -3, beta = 0.25;

  q.csr.alpha.device = q.tile.alpha.device = &alpha;
  q.csr.beta.device = q.tile.beta.device = &beta;
  check(agree(&q, 7, 7), "alpha and beta where a pointer says");
  alpha = 0, beta = 0;
  for (int64_t i = 0; i < elements(&q.csr.b); i++) set(q.csr.b.values, i, SHUNT_BF16, NAN);
  poison_c(&q);
  for (int64_t i = 0; i < 20; i++) /* the gaps stay */
    set(q.csr.c.values, i * q.csr.c.row_stride + 9, SHUNT_F32, 5);
  check(agree(&q, 7, 7) && load(q.tile.c.values, 0, SHUNT_F32) == 0 &&
            load(q.tile.c.values, 9, SHUNT_F32) == 5,
        "with alpha and beta 0 nothing of NaN in B and C is left");
  product_free(&q);
}

static void test_declined(void)
{
  struct product q =
      product_new(random_matrix(20, 40, 0.2, MIXED, SHUNT_I32, 0), 0, 9, 0, SHUNT_F16, SHUNT_F16);
  struct shunt_spmm p = q.tile;
  uint32_t word = 1;

  p.only_if = &word;
  check(shunt_tile_spmm_host(&p, &q.k.v) == SHUNT_E_UNSUPPORTED, "only_if is declined");
  p = q.tile, p.compute = SHUNT_F64;
  check(shunt_tile_spmm_host(&p, &q.k.v) == SHUNT_E_UNSUPPORTED, "and another compute type");
  p = q.tile, p.b.type = SHUNT_BF16;
  check(shunt_tile_spmm_host(&p, &q.k.v) == SHUNT_E_UNSUPPORTED, "and another type of B");
  p = q.tile, p.c.type = SHUNT_F64;
  check(shunt_tile_spmm_host(&p, &q.k.v) == SHUNT_E_UNSUPPORTED, "and of C");
  p = q.tile, p.b.rows++;
  check(shunt_tile_spmm_host(&p, &q.k.v) == SHUNT_E_ARGUMENT, "B of another size is an error");
  p = q.tile, p.c.rows++;
  check(shunt_tile_spmm_host(&p, &q.k.v) == SHUNT_E_ARGUMENT, "so is C with other rows");
  p = q.tile, p.c.cols++;
  check(shunt_tile_spmm_host(&p, &q.k.v) == SHUNT_E_ARGUMENT, "so is C with other columns");
  product_free(&q);
}

int main(void)
{
  test_zeros_by_hand();
  test_random();
  test_not_finite();
  test_scalars();
  test_declined();
  return check_finish();
}
