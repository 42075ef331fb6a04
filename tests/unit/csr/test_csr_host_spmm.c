/* test_csr_host_spmm.c: the host twins of SpMM and the half conversions, against
   answers computed by hand.  No GPU, no files.  */
#include <math.h>
#include <stdlib.h>

#include "kernels/common/host_half.h"
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/check.h"
#include "tests/unit/csr/by_hand.h"

/* ---- conversions --------------------------------------------------------- */
static void test_half(void)
{
  static const struct {
    float f;
    uint16_t h;
  } exact[] = {
      {0.0f, 0x0000},      {1.0f, 0x3c00},
      {-2.0f, 0xc000},     {65504.0f, 0x7bff},
      {0x1p-14f, 0x0400},  {0x1p-24f, 0x0001},
      {-0x3p-24f, 0x8003}, {0x3ffp-24f, 0x03ff},
      {1.5f, 0x3e00},      {0.333251953125f, 0x3555},
  };
  int good = 1;
  for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++)
    good &= shunt_float_to_half(exact[i].f) == exact[i].h &&
            shunt_half_to_float(exact[i].h) == exact[i].f;
  check(good, "half: exact values both ways");

  good = shunt_float_to_half(1 + 0x1p-11f) == 0x3c00;      /* tie to even: down */
  good &= shunt_float_to_half(1 + 0x3p-11f) == 0x3c02;     /* tie to even: up */
  good &= shunt_float_to_half(1 + 0x1.002p-11f) == 0x3c01; /* above the tie */
  good &= shunt_float_to_half(65519.0f) == 0x7bff && shunt_float_to_half(65520.0f) == 0x7c00;
  good &= shunt_float_to_half(0x1p-25f) == 0 && shunt_float_to_half(0x1.1p-25f) == 1;
  good &= shunt_float_to_half(0x3p-25f) == 2; /* subnormal tie to even */
  good &= shunt_float_to_half(-0.0f) == 0x8000;
  good &= shunt_float_to_half(-INFINITY) == 0xfc00 && isinf(shunt_half_to_float(0x7c00));
  good &= isnan(shunt_half_to_float(shunt_float_to_half(NAN)));
  check(good, "half: rounding, overflow, subnormals, NaN");

  good = 1;
  for (unsigned h = 0; h < 0x10000; h++) {
    float f = shunt_half_to_float((uint16_t)h), b = shunt_bfloat_to_float((uint16_t)h);
    good &= isnan(f) ? 1 : shunt_float_to_half(f) == h;
    good &= isnan(b) ? 1 : shunt_float_to_bfloat(b) == h;
  }
  check(good, "half, bfloat: every value survives the round trip");

  good = shunt_float_to_bfloat(1.0f) == 0x3f80 && shunt_float_to_bfloat(-3.5f) == 0xc060;
  good &= shunt_float_to_bfloat(1 + 0x1p-8f) == 0x3f80;
  good &= shunt_float_to_bfloat(1 + 0x3p-8f) == 0x3f82;
  good &= shunt_float_to_bfloat(3.4e38f) == 0x7f80;
  good &= isnan(shunt_bfloat_to_float(shunt_float_to_bfloat(shunt_bits_float(0x7f800001u))));
  check(good, "bfloat: rounding, overflow, NaN");
}

/* ---- SpMM ------------------------------------------------------------------
        | 1 0 2 |        | 1 2 |          | 7 10 |
    A = | 0 0 0 |    B = | 5 6 |    A B = | 0  0 |    row 2 of A stores (2,1) = 3 and
        | 0 5 0 |        | 3 4 |          |25 30 |    (2,1) = 2, and row 3 is
        | 4 0 3 |                         |13 20 |    unsorted                      */
enum { ROWS = 4, INNER = 3, N = 2, NNZ = 6 };
static const double value[NNZ] = {1, 2, 3, 2, 3, 4};
static const int offsets[ROWS + 1] = {0, 2, 2, 4, 6};
static const int columns[NNZ] = {0, 2, 1, 1, 2, 0};
static const double b_value[INNER][N] = {{1, 2}, {5, 6}, {3, 4}};
static const double product[ROWS][N] = {{7, 10}, {0, 0}, {25, 30}, {13, 20}};

typedef shunt_status (*spmm)(const struct shunt_spmm *);

/* Room for the problem in any type; from malloc, so that it has no type yet. */
struct memory {
  int64_t offsets[ROWS + 1], columns[NNZ];
  double values[NNZ], b[64], c[64];
};

/* The problem above in the types, layouts and index form asked for.  C starts
   as 100 everywhere; strides leave a gap of 3.  */
static struct shunt_spmm make(struct memory *m, shunt_type in, shunt_type out, shunt_type compute,
                              int b_by_column, int c_by_column, shunt_type index, int base)
{
  struct shunt_spmm p = {
      .a = {ROWS, INNER, NNZ, m->offsets, m->columns, m->values, index, in, base},
      .b = {INNER, N, b_by_column ? 1 : N + 3, b_by_column ? INNER + 3 : 1, m->b, in},
      .c = {ROWS, N, c_by_column ? 1 : N + 3, c_by_column ? ROWS + 3 : 1, m->c, out},
      .alpha = {.host = 1},
      .beta = {.host = 0},
      .compute = compute,
      .only_if = NULL,
  };
  store_indices(m->offsets, offsets, ROWS + 1, index, base);
  store_indices(m->columns, columns, NNZ, index, base);
  for (int i = 0; i < NNZ; i++) store(m->values, i, in, value[i]);
  for (int i = 0; i < 64; i++) store(m->c, i, out, 100);
  for (int k = 0; k < INNER; k++)
    for (int j = 0; j < N; j++)
      store(m->b, k * p.b.row_stride + j * p.b.col_stride, in, b_value[k][j]);
  return p;
}

static double at(const struct shunt_spmm *p, int i, int j)
{
  return load(p->c.values, i * p->c.row_stride + j * p->c.col_stride, p->c.type);
}

/* C == alpha A B + beta 100 everywhere, and the gaps untouched. */
static int right(const struct shunt_spmm *p, double alpha, double beta)
{
  int good = 1, inside = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < N; j++) good &= at(p, i, j) == alpha * product[i][j] + beta * 100;
  int length = p->c.col_stride == 1 ? N : ROWS;
  int lines = p->c.col_stride == 1 ? ROWS : N;
  for (int k = 0; k < 56; k++) {
    inside = k / (length + 3) < lines && k % (length + 3) < length;
    if (!inside) good &= load(p->c.values, k, p->c.type) == 100;
  }
  return good;
}

static void test_types(spmm f, const char *name, struct memory *m)
{
  static const shunt_type types[][3] = {
      {SHUNT_F16, SHUNT_F16, SHUNT_F32},   {SHUNT_F16, SHUNT_F32, SHUNT_F32},
      {SHUNT_BF16, SHUNT_BF16, SHUNT_F32}, {SHUNT_BF16, SHUNT_F32, SHUNT_F32},
      {SHUNT_F32, SHUNT_F32, SHUNT_F32},   {SHUNT_F64, SHUNT_F64, SHUNT_F64},
      {SHUNT_I8, SHUNT_I32, SHUNT_I32},    {SHUNT_I8, SHUNT_F32, SHUNT_F32},
  };
  char text[100];
  for (int t = 0; t < 8; t++) {
    int good = 1;
    for (int layout = 0; layout < 16; layout++) {
      struct shunt_spmm p = make(m, types[t][0], types[t][1], types[t][2], layout & 1,
                                 layout >> 1 & 1, layout & 4 ? SHUNT_I64 : SHUNT_I32, layout >> 3);
      good &= f(&p) == SHUNT_OK && right(&p, 1, 0);
      p = make(m, types[t][0], types[t][1], types[t][2], layout & 1, layout >> 1 & 1,
               layout & 4 ? SHUNT_I64 : SHUNT_I32, layout >> 3);
      p.alpha.host = 2;
      p.beta.host = -1;
      good &= f(&p) == SHUNT_OK && right(&p, 2, -1);
    }
    snprintf(text, sizeof text, "%s: types %d -> %d, all layouts and index forms", name,
             types[t][0], types[t][1]);
    check(good, "%s", text);
  }
}

static void test_rules(spmm f, const char *name, struct memory *m)
{
  char text[100];
  struct shunt_spmm p = make(m, SHUNT_F32, SHUNT_F32, SHUNT_F32, 0, 0, SHUNT_I32, 0);
  int good;

  for (int i = 0; i < 64; i++) store(m->c, i, SHUNT_F32, NAN);
  f(&p);
  good = at(&p, 0, 0) == 7 && at(&p, 1, 1) == 0;
  p.beta.host = 1;
  store(m->c, 0, SHUNT_F32, NAN);
  f(&p);
  good &= isnan(at(&p, 0, 0)) && at(&p, 0, 1) == 20;
  snprintf(text, sizeof text, "%s: beta 0 does not read C, beta 1 does", name);
  check(good, "%s", text);

  p = make(m, SHUNT_F32, SHUNT_F32, SHUNT_F32, 0, 0, SHUNT_I32, 0);
  store(m->values, 0, SHUNT_F32, 0);
  store(m->b, 0, SHUNT_F32, INFINITY); /* B(0,0), met by stored (0,0) = 0 and (3,0) = 4 */
  f(&p);
  good = isnan(at(&p, 0, 0)) && at(&p, 0, 1) == 8 && at(&p, 2, 0) == 25 && isinf(at(&p, 3, 0));
  snprintf(text, sizeof text, "%s: a stored zero times Inf is NaN, an absent one is not", name);
  check(good, "%s", text);

  p.alpha.host = 0;
  f(&p);
  snprintf(text, sizeof text, "%s: alpha 0 leaves no trace of a NaN or Inf", name);
  check(right(&p, 0, 0), "%s", text);

  float alpha = 2, beta = 0.5f;
  p = make(m, SHUNT_F32, SHUNT_F32, SHUNT_F32, 0, 1, SHUNT_I64, 1);
  p.alpha.device = &alpha;
  p.beta.device = &beta;
  p.alpha.host = p.beta.host = 77;
  f(&p);
  snprintf(text, sizeof text, "%s: scalars by pointer", name);
  check(right(&p, 2, 0.5), "%s", text);

  uint32_t word = 0;
  p = make(m, SHUNT_F32, SHUNT_F32, SHUNT_F32, 0, 0, SHUNT_I32, 0);
  p.only_if = &word;
  good = f(&p) == SHUNT_OK && at(&p, 0, 0) == 100 && at(&p, 3, 1) == 100;
  word = 4;
  good &= f(&p) == SHUNT_OK && right(&p, 1, 0);
  snprintf(text, sizeof text, "%s: only_if", name);
  check(good, "%s", text);

  p = make(m, SHUNT_I8, SHUNT_I32, SHUNT_I32, 0, 0, SHUNT_I32, 0);
  p.alpha.host = 1 << 30;
  f(&p);
  good = (int32_t)at(&p, 0, 0) == (int32_t)(7u << 30);
  good &= (int32_t)at(&p, 3, 1) == (int32_t)(20u << 30);
  snprintf(text, sizeof text, "%s: int32 wraps", name);
  check(good, "%s", text);

  p = make(m, SHUNT_F32, SHUNT_F64, SHUNT_F32, 0, 0, SHUNT_I32, 0);
  good = f(&p) == SHUNT_E_UNSUPPORTED;
  p = make(m, SHUNT_F16, SHUNT_F16, SHUNT_I32, 0, 0, SHUNT_I32, 0);
  good &= f(&p) == SHUNT_E_UNSUPPORTED;
  p = make(m, SHUNT_F32, SHUNT_F32, SHUNT_F32, 0, 0, SHUNT_I32, 0);
  p.c.cols = N + 1;
  good &= f(&p) == SHUNT_E_ARGUMENT;
  p = make(m, SHUNT_F32, SHUNT_F32, SHUNT_F32, 0, 0, SHUNT_I32, 0);
  p.b.cols = p.c.cols = 0;
  good &= f(&p) == SHUNT_OK && at(&p, 0, 0) == 100;
  snprintf(text, sizeof text, "%s: refusals and zero sizes", name);
  check(good, "%s", text);
}

/* Wider than a block of columns, more rows than parts: A has A(i, i % 5) = 2 and,
   in every third row, A(i, 4) = -1 as well; B(k, j) = 10 k + j.  */
static void test_large(spmm f, const char *name)
{
  enum { M = 700, K = 5, WIDE = 131 };
  static int32_t off[M + 1], col[2 * M];
  static float val[2 * M], b[K * WIDE], c[M * WIDE];
  int nnz = 0, good = 1;
  char text[100];

  for (int i = 0; i < M; i++) {
    off[i] = nnz;
    col[nnz] = i % 5;
    val[nnz++] = 2;
    if (i % 3 == 0) {
      col[nnz] = 4;
      val[nnz++] = -1;
    }
  }
  off[M] = nnz;
  for (int k = 0; k < K; k++)
    for (int j = 0; j < WIDE; j++) b[k * WIDE + j] = (float)(10 * k + j);
  struct shunt_spmm p = {
      .a = {M, K, nnz, off, col, val, SHUNT_I32, SHUNT_F32, 0},
      .b = {K, WIDE, WIDE, 1, b, SHUNT_F32},
      .c = {M, WIDE, WIDE, 1, c, SHUNT_F32},
      .alpha = {.host = 1},
      .beta = {.host = 0},
      .compute = SHUNT_F32,
      .only_if = NULL,
  };
  good = f(&p) == SHUNT_OK;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < WIDE; j++)
      good &= c[i * WIDE + j] == (float)(2 * (10 * (i % 5) + j) - (i % 3 == 0 ? 40 + j : 0));
  snprintf(text, sizeof text, "%s: 700 rows by 131 columns", name);
  check(good, "%s", text);
}

int main(void)
{
  struct memory *m = malloc(sizeof *m);

  if (!m) return 1;
  test_half();
  static const struct {
    spmm f;
    const char *name;
  } twins[] = {{shunt_csr_spmm_host, "host"}, {shunt_csr_spmm_parallel_host, "parallel"}};
  for (int i = 0; i < 2; i++) {
    test_types(twins[i].f, twins[i].name, m);
    test_rules(twins[i].f, twins[i].name, m);
    test_large(twins[i].f, twins[i].name);
  }
  free(m);
  return check_finish();
}
