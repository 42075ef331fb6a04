/* test_native_integers.c: libshunt.so's functions of integers on the host engine: quantisation by
   hand, products and sampled products against sums of 64 bits, softmax and attention against
   double, what is refused, and every allocation that can fail.  */
#include <math.h>
#include <string.h>

#include "backend/native/integers.h"
#include "backend/plan/fault.h"
#include "kernels/common/host_element.h"

#define RANDOM_SEED 77
#include "tests/unit/check.h"
#include "tests/unit/random_csr.h"

enum { ROWS = 37, COLS = 61, DEPTH = 21, MOST = 64 };

/* Aligned sets of `share` rows have one list of columns; values of so many bits. */
static struct owned random_matrix(int share, int bits)
{
  const shunt_type type = bits > 8 ? SHUNT_I16 : SHUNT_I8;
  struct owned o = owned_new(ROWS, COLS, ROWS * COLS, SHUNT_I32, type, 1);
  unsigned char list[COLS] = {0};
  int64_t p = 0;
  for (int64_t i = 0; i < ROWS; i++) {
    put(o.offsets, SHUNT_I32, i, p + 1);
    for (int64_t j = 0; j < COLS; j++) {
      if (i % share == 0) list[j] = (unsigned char)chance(0.3);
      if (!list[j]) continue;
      const int x = (int)(random_next() % (1u << bits)) - (1 << (bits - 1));
      put(o.columns, SHUNT_I32, p, j + 1);
      if (bits > 8)
        ((int16_t *)o.a.values)[p++] = (int16_t)x;
      else
        ((int8_t *)o.a.values)[p++] = (int8_t)x;
    }
  }
  put(o.offsets, SHUNT_I32, ROWS, p + 1);
  o.a.nnz = p;
  return o;
}

static int64_t value(const struct owned *o, int64_t p)
{
  return o->a.value_type == SHUNT_I16 ? ((const int16_t *)o->a.values)[p]
                                      : ((const int8_t *)o->a.values)[p];
}

/* Rows of random bytes, of signed integers. */
static struct shunt_integers random_integers(int bits, int64_t rows, int64_t cols)
{
  const int64_t pitch = (cols * bits / 8 + 16) / 16 * 16;
  char *memory = aligned_alloc(16, (size_t)(rows * pitch));
  for (int64_t i = 0; i < rows * pitch; i++) memory[i] = (char)random_next();
  return (struct shunt_integers){memory, bits, rows, cols, pitch, 0};
}

static int64_t at(const struct shunt_integers *m, int64_t i, int64_t j)
{
  const char *row = (const char *)m->values + i * m->row_bytes;
  const int nibble = (unsigned char)row[j / 2] >> (j % 2 ? 4 : 0) & 15;
  const int16_t wide = ((const int16_t *)(const void *)row)[m->bits == 16 ? j : 0];
  if (m->is_unsigned)
    return m->bits == 16 ? (uint16_t)wide : m->bits == 8 ? (uint8_t)row[j] : nibble;
  return m->bits == 16 ? wide : m->bits == 8 ? (int8_t)row[j] : (nibble ^ 8) - 8;
}

static void drop(struct shunt_integers *m)
{
  free((void *)(uintptr_t)m->values);
}

/* ---- quantisation --------------------------------------------------------------------------- */

static void test_by_hand(void)
{
  float x[2][3] = {{-14, 3, 1}, {NAN, -INFINITY, 0}}, scale = 0, scales[2] = {0, 0};
  _Alignas(16) int8_t q[2][16];
  const struct shunt_tensor from = {x, SHUNT_F32, 1, 1, 2, 3, 3, 0, 0};
  struct shunt_integers to = {q, 8, 2, 3, 16, 0};
  int good = shunt_quantise(&from, SHUNT_HOST, 0, &to, &scale, NULL) == SHUNT_OK;
  good &= scale == 14.0f / 127 && q[0][0] == -127 && q[0][1] == 27 && q[0][2] == 9;
  check(good && q[1][0] == 0 && q[1][1] == -127 && q[1][2] == 0, "by tensor: NaN and infinities");
  good = shunt_quantise(&from, SHUNT_HOST, 1, &to, scales, NULL) == SHUNT_OK;
  good &= scales[0] == 14.0f / 127 && q[0][1] == 27;
  check(good && scales[1] == 0 && q[1][1] == 0, "by rows: a row without a number");
  to.bits = 4;
  good = shunt_quantise(&from, SHUNT_HOST, 0, &to, &scale, NULL) == SHUNT_OK && scale == 2;
  check(good && at(&to, 0, 0) == -7 && at(&to, 0, 1) == 2 && at(&to, 0, 2) == 0 &&
            (uint8_t)q[0][1] >> 4 == 0,
        "four bits: ties go to even, the last nibble is 0");
  to.is_unsigned = 1;
  check(shunt_quantise(&from, SHUNT_HOST, 0, &to, &scale, NULL) == SHUNT_E_ARGUMENT,
        "into unsigned integers: refused");
}

/* ---- products -------------------------------------------------------------------------------- */

static int product_right(const struct owned *o, const struct shunt_packed_integers *p, int bits_b,
                         int is_unsigned)
{
  struct shunt_integers b = random_integers(bits_b, COLS, DEPTH);
  b.is_unsigned = is_unsigned;
  const struct shunt_scaling plain = {.type = SHUNT_I32};
  int32_t c[ROWS][DEPTH + 2];
  int good = shunt_integer_spmm(p, NULL, &b, &plain, c, DEPTH + 2, NULL) == SHUNT_OK;
  for (int64_t i = 0; i < ROWS; i++)
    for (int64_t j = 0; j < DEPTH; j++) {
      int64_t sum = 0;
      for (int64_t e = get(o->offsets, SHUNT_I32, i) - 1; e < get(o->offsets, SHUNT_I32, i + 1) - 1;
           e++)
        sum += value(o, e) * at(&b, get(o->columns, SHUNT_I32, e) - 1, j);
      good &= c[i][j] == (int32_t)(uint32_t)sum;
    }
  drop(&b);
  return good;
}

static void test_products(void)
{
  static const int bits[][2] = {{16, 16}, {16, 8}, {16, 4}, {12, 8},
                                {12, 4},  {8, 8},  {8, 4},  {4, 4}};
  for (int share = 1; share <= 8; share *= 2)
    for (int k = 0; k < 8; k++) {
      struct owned o = random_matrix(share, bits[k][0]);
      struct shunt_packed_integers *p = NULL;
      struct shunt_packed_integers_info info = {0};
      int good = shunt_pack_integers(&o.a, SHUNT_HOST, bits[k][0], 0, NULL, &p) == SHUNT_OK;
      if (p) shunt_packed_integers_describe(p, &info);
      good &= info.height == (share > 1 ? share : 2) && info.nnz == o.a.nnz;
      check(good && product_right(&o, p, bits[k][1], 0) && product_right(&o, p, bits[k][1], 1),
            "%d x %d bits, signed or not, sets of %d rows", bits[k][0], bits[k][1], share);
      shunt_packed_integers_free(p);
      owned_free(&o);
    }
}

/* Sums of one entry each, by a scale of half: ties, what lies beyond 8 bits, and no number. */
static void test_bytes(void)
{
  static const int8_t values[] = {1, 3, -3, 127, -128};
  struct owned o = owned_new(5, 1, 5, SHUNT_I32, SHUNT_I8, 0);
  struct shunt_packed_integers *p = NULL;
  struct shunt_integers b = random_integers(8, 1, 16);
  struct shunt_scaling by = {.type = SHUNT_I8, .scale = 0.5f};
  int8_t c[5][2];
  for (int64_t i = 0; i <= 5; i++) put(o.offsets, SHUNT_I32, i, i);
  memcpy(o.a.values, values, 5);
  o.a.nnz = 5;
  b.cols = 2;
  ((int8_t *)(uintptr_t)b.values)[0] = 1, ((int8_t *)(uintptr_t)b.values)[1] = 64;
  int good = shunt_pack_integers(&o.a, SHUNT_HOST, 8, 2, NULL, &p) == SHUNT_OK;
  good &= shunt_integer_spmm(p, NULL, &b, &by, c, 2, NULL) == SHUNT_OK;
  good &= c[0][0] == 0 && c[1][0] == 2 && c[2][0] == -2 && c[3][0] == 64 && c[4][0] == -64;
  good &= c[0][1] == 32 && c[1][1] == 96 && c[2][1] == -96 && c[3][1] == 127 && c[4][1] == -128;
  by.scale = NAN;
  good &= shunt_integer_spmm(p, NULL, &b, &by, c, 2, NULL) == SHUNT_OK;
  check(good && c[0][0] == 0 && c[4][1] == 0, "results of 8 bits: ties to even, bounds, NaN");
  shunt_packed_integers_free(p);
  drop(&b), owned_free(&o);
}

static void test_sddmm(int unsigned_a, int unsigned_b)
{
  struct owned o = random_matrix(4, 8);
  struct shunt_packed_integers *p = NULL;
  int good = shunt_pack_integers(&o.a, SHUNT_HOST, 8, 8, NULL, &p) == SHUNT_OK && p->v.height == 8;
  float *results = aligned_alloc(16, p->places * 4), scales[MOST];
  struct shunt_integers a = random_integers(8, ROWS, DEPTH), b = random_integers(8, COLS, DEPTH);
  a.is_unsigned = unsigned_a, b.is_unsigned = unsigned_b;
  for (int i = 0; i < MOST; i++) scales[i] = (float)(i + 1) / 8;
  const struct shunt_scaling by = {SHUNT_F32, 0.5f, scales, scales, scales};
  good &= shunt_integer_sddmm(p, &a, &b, &by, results, NULL) == SHUNT_OK;
  for (int64_t i = 0; i < ROWS; i++) {
    int64_t slot = p->v.begin[i / 8];
    for (int64_t e = get(o.offsets, SHUNT_I32, i) - 1; e < get(o.offsets, SHUNT_I32, i + 1) - 1;
         e++) {
      const int64_t j = get(o.columns, SHUNT_I32, e) - 1;
      int64_t sum = 0;
      while (p->v.columns[slot] != j) slot++;
      for (int64_t x = 0; x < DEPTH; x++) sum += at(&a, i, x) * at(&b, j, x);
      good &= results[shunt_srbcrs_place(8, (int)(i % 8), slot)] ==
              (float)sum * (0.5f * scales[0] * scales[i] * scales[j]);
    }
  }
  check(good, "sampled products, scaled, %d %d", unsigned_a, unsigned_b);
  shunt_packed_integers_free(p);
  free(results), drop(&a), drop(&b), owned_free(&o);
}

/* ---- attention ------------------------------------------------------------------------------- */

static float *random_floats(int64_t n)
{
  float *x = malloc((size_t)n * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = (float)((double)(random_next() % 2001) / 1000 - 1);
  return x;
}

/* Row i of problem z in double. */
static void wanted_row(const struct owned *o, float *const x[3], int64_t z, int64_t i, double *want)
{
  const float *q = x[0] + (z * ROWS + i) * DEPTH, *k = x[1] + z * COLS * DEPTH;
  const float *v = x[2] + z * COLS * DEPTH;
  double weight[COLS], sum = 0;
  const int64_t from = get(o->offsets, SHUNT_I32, i) - 1,
                to = get(o->offsets, SHUNT_I32, i + 1) - 1;
  for (int64_t c = 0; c < DEPTH; c++) want[c] = 0;
  for (int64_t e = from; e < to; e++) {
    const int64_t j = get(o->columns, SHUNT_I32, e) - 1;
    double score = 0;
    for (int64_t c = 0; c < DEPTH; c++) score += (double)q[c] * (double)k[j * DEPTH + c];
    sum += weight[e - from] = exp(0.4 * score);
  }
  for (int64_t e = from; e < to; e++)
    for (int64_t c = 0; c < DEPTH; c++)
      want[c] +=
          weight[e - from] / sum * (double)v[(get(o->columns, SHUNT_I32, e) - 1) * DEPTH + c];
}

/* at_once: problems, of two. */
static void test_attention(int bits, size_t at_once)
{
  struct owned o = random_matrix(8, bits);
  struct shunt_packed_integers *p = NULL;
  struct shunt_csr pattern = o.a;
  pattern.values = NULL;
  int good = shunt_pack_integers(&pattern, SHUNT_HOST, bits, 0, NULL, &p) == SHUNT_OK;
  if (p) p->score_bytes = at_once * p->places * shunt_type_size(SHUNT_F16);
  float *const x[4] = {random_floats(2 * ROWS * DEPTH), random_floats(2 * COLS * DEPTH),
                       random_floats(2 * COLS * DEPTH), random_floats(2 * ROWS * DEPTH)};
  struct shunt_tensor t[4];
  double worst = 0;
  for (int i = 0; i < 4; i++) {
    const int64_t rows = i % 3 ? COLS : ROWS;
    t[i] = (struct shunt_tensor){x[i], SHUNT_F32, 1, 2, rows, DEPTH, DEPTH, rows * DEPTH, 0};
  }
  const size_t bytes = shunt_integer_attention_workspace(p, 8, 8, &t[0], &t[1], &t[2], &t[3]);
  void *room = aligned_alloc(256, bytes);
  good &= shunt_integer_attention(p, 8, 8, 0.4f, &t[0], &t[1], &t[2], &t[3], room, bytes - 1,
                                  NULL) == SHUNT_E_WORKSPACE;
  good &= shunt_integer_attention(p, 8, 8, 0.4f, &t[0], &t[1], &t[2], &t[3], room, bytes, NULL) ==
          SHUNT_OK;
  for (int64_t z = 0; z < 2; z++)
    for (int64_t i = 0; i < ROWS; i++) {
      double want[DEPTH];
      wanted_row(&o, x, z, i, want);
      for (int64_t c = 0; c < DEPTH; c++)
        worst = fmax(worst, fabs(want[c] - (double)x[3][(z * ROWS + i) * DEPTH + c]));
    }
  check(good && worst < 0.02, "attention with weights of %d bits, %zu at once, error %g", bits,
        at_once, worst);
  shunt_packed_integers_free(p);
  for (int i = 0; i < 4; i++) free(x[i]);
  free(room), owned_free(&o);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void test_refused(void)
{
  struct owned o = random_matrix(4, 8);
  struct shunt_packed_integers *p = NULL;
  struct shunt_integers b = random_integers(8, COLS, DEPTH);
  const struct shunt_scaling by = {.type = SHUNT_I32};
  int32_t *c = calloc(ROWS * DEPTH, 4);
  int good = shunt_pack_integers(&o.a, SHUNT_HOST, 16, 0, NULL, &p) == SHUNT_E_UNSUPPORTED && !p;
  good &= shunt_pack_integers(&o.a, SHUNT_HOST, 8, 3, NULL, &p) == SHUNT_E_UNSUPPORTED;
  good &= shunt_pack_integers(&o.a, SHUNT_DEVICE, 8, 0, NULL, &p) == SHUNT_E_UNSUPPORTED;
  good &= shunt_pack_integers(&o.a, SHUNT_HOST, 4, 0, NULL, &p) == SHUNT_E_INPUT && !p;
  good &= shunt_pack_integers(NULL, SHUNT_HOST, 8, 0, NULL, &p) == SHUNT_E_ARGUMENT;
  check(good, "packing: bits, heights, places, values beyond four bits");
  good = shunt_pack_integers(&o.a, SHUNT_HOST, 8, 0, NULL, &p) == SHUNT_OK;
  good &= shunt_integer_spmm(p, NULL, &b, &by, c, DEPTH - 1, NULL) == SHUNT_E_ARGUMENT;
  good &= shunt_integer_spmm(p, NULL, &b, &by, NULL, DEPTH, NULL) == SHUNT_E_ARGUMENT;
  good &= shunt_integer_spmm(p, (char *)p->memory + 1, &b, &by, c, DEPTH, NULL) == SHUNT_E_ARGUMENT;
  b.rows--;
  good &= shunt_integer_spmm(p, NULL, &b, &by, c, DEPTH, NULL) == SHUNT_E_ARGUMENT;
  good &= shunt_integer_sddmm(p, &b, &b, &by, c, NULL) == SHUNT_E_ARGUMENT;
  good &= shunt_integer_softmax(p, 1, NULL, 8, NULL, NULL, NULL) == SHUNT_E_ARGUMENT;
  check(good, "products: strides, pointers, alignment, sizes");
  shunt_packed_integers_free(p);
  drop(&b), free(c), owned_free(&o);
}

static void test_faults(void)
{
  struct owned o = random_matrix(2, 8);
  struct shunt_csr a = o.a;
  int good = 1, failed = 1;
  long n = 0;
  a.values = NULL;
  while (failed) {
    struct shunt_packed_integers *p = NULL;
    shunt_fault_arm(++n);
    const shunt_status s = shunt_pack_integers(&a, SHUNT_HOST, 8, 0, NULL, &p);
    failed = shunt_faults_seen() >= n;
    good &= failed ? s == SHUNT_E_MEMORY && !p : s == SHUNT_OK;
    shunt_packed_integers_free(p);
  }
  shunt_fault_arm(0);
  check(good && n >= 5, "each of %ld allocations fails", n - 1);
  owned_free(&o);
}

int main(void)
{
  test_by_hand();
  test_products();
  test_bytes();
  for (int i = 0; i < 4; i++) test_sddmm(i % 2, i / 2);
  test_attention(16, 1), test_attention(16, 2);
  test_attention(12, 1), test_attention(12, 2);
  test_attention(8, 1), test_attention(8, 2);
  test_refused();
  test_faults();
  return check_finish();
}
