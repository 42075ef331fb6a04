/* test_csr_host_complex.c: the host twins of complex SpMM and SDDMM, against answers by hand.  */
#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/check.h"
#include "tests/unit/csr/by_hand.h"

/*     | 1+i  0   |         | 1    i  |              | 1+i    -1+i  |
   A = |  0   0   |     B = | 2-i  3  |      A B  =  | 0      0     |
       | 2i   1-i |                                  | 1-i    1-3i  |

   A at A's pattern times B, as SDDMM: row 0 has column 0, row 2 columns 1 and 0.  */
enum { ROWS = 3, INNER = 2, N = 2, NNZ = 3 };
static const int offsets[ROWS + 1] = {0, 1, 1, 3}, columns[NNZ] = {0, 1, 0};
static const double a_values[NNZ][2] = {{1, 1}, {1, -1}, {0, 2}};
static const double b_values[INNER][N][2] = {{{1, 0}, {0, 1}}, {{2, -1}, {3, 0}}};
static const double product[ROWS][N][2] = {{{1, 1}, {-1, 1}}, {{0, 0}, {0, 0}}, {{1, -1}, {1, -3}}};

struct memory {
  int64_t offsets[ROWS + 1], columns[NNZ];
  double a[2 * NNZ], b[40], c[40], scalars[4];
};

static void put(void *to, int64_t i, shunt_type t, const double x[2])
{
  shunt_store_pair(to, i, t, (shunt_pair){x[0], x[1]});
}

static int is(const void *from, int64_t i, shunt_type t, double re, double im)
{
  const shunt_pair x = shunt_load_pair(from, i, t);
  return x.re == re && x.im == im;
}

/* layout: bit 0 B by columns, 1 C by columns, 2 64-bit indices, 3 base 1; C is 10 + 20 i. */
static struct shunt_spmm make(struct memory *m, shunt_type t, int layout)
{
  const shunt_type index = layout & 4 ? SHUNT_I64 : SHUNT_I32;
  static const double old[2] = {10, 20};
  struct shunt_spmm p = {
      .a = {ROWS, INNER, NNZ, m->offsets, m->columns, m->a, index, t, layout >> 3},
      .b = {INNER, N, layout & 1 ? 1 : N + 1, layout & 1 ? INNER + 1 : 1, m->b, t},
      .c = {ROWS, N, layout & 2 ? 1 : N + 1, layout & 2 ? ROWS + 1 : 1, m->c, t},
      .alpha = {.host = 1},
      .compute = t};
  store_indices(m->offsets, offsets, ROWS + 1, index, layout >> 3);
  store_indices(m->columns, columns, NNZ, index, layout >> 3);
  for (int i = 0; i < NNZ; i++) put(m->a, i, t, a_values[i]);
  for (int i = 0; i < 20; i++) put(m->c, i, t, old);
  for (int k = 0; k < INNER; k++)
    for (int j = 0; j < N; j++)
      put(m->b, k * p.b.row_stride + j * p.b.col_stride, t, b_values[k][j]);
  return p;
}

/* C == (re + im i) A B + (add_re + add_im i) everywhere, and 10 + 20 i in its gaps. */
static int right(const struct shunt_spmm *p, double re, double im, double add_re, double add_im)
{
  int good = 1, inside = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < N; j++) {
      const double *x = product[i][j];
      good &= is(p->c.values, i * p->c.row_stride + j * p->c.col_stride, p->c.type,
                 re * x[0] - im * x[1] + add_re, re * x[1] + im * x[0] + add_im);
    }
  const int length = p->c.col_stride == 1 ? N : ROWS, lines = p->c.col_stride == 1 ? ROWS : N;
  for (int k = 0; k < 20; k++) {
    inside = k / (length + 1) < lines && k % (length + 1) < length;
    if (!inside) good &= is(p->c.values, k, p->c.type, 10, 20);
  }
  return good;
}

static void test_spmm(shunt_type t, const char *name)
{
  struct memory m;
  int good = 1;
  for (int layout = 0; layout < 16; layout++) {
    struct shunt_spmm p = make(&m, t, layout);
    good &= shunt_csr_spmm_complex_host(&p) == SHUNT_OK && right(&p, 1, 0, 0, 0);
    p = make(&m, t, layout);
    p.alpha = (struct shunt_scalar){NULL, 2, -1};
    p.beta = (struct shunt_scalar){NULL, 0, 1}; /* i (10 + 20 i) = -20 + 10 i */
    good &= shunt_csr_spmm_complex_host(&p) == SHUNT_OK && right(&p, 2, -1, -20, 10);
  }
  check(good, "%s: all layouts and index forms, complex alpha and beta", name);

  struct shunt_spmm p = make(&m, t, 0);
  static const double alpha[2] = {0, 2}, beta[2] = {0.5, 0};
  put(m.scalars, 0, t, alpha);
  put(m.scalars, 1, t, beta);
  p.alpha.device = m.scalars;
  p.beta.device = (const char *)m.scalars + shunt_type_size(t);
  p.alpha.host = p.beta.imaginary = 77;
  good = shunt_csr_spmm_complex_host(&p) == SHUNT_OK && right(&p, 0, 2, 5, 10);
  check(good, "%s: scalars by pointer", name);

  uint32_t word = 0;
  static const double nan_pair[2] = {NAN, NAN};
  p = make(&m, t, 0);
  p.only_if = &word;
  good = shunt_csr_spmm_complex_host(&p) == SHUNT_OK && is(m.c, 0, t, 10, 20);
  word = 1;
  put(m.c, 0, t, nan_pair);
  good &= shunt_csr_spmm_complex_host(&p) == SHUNT_OK && right(&p, 1, 0, 0, 0);
  check(good, "%s: only_if; beta 0 does not read C", name);

  p = make(&m, t, 0);
  put(m.b, 0, t, nan_pair);
  p.alpha.host = 0;
  good = shunt_csr_spmm_complex_host(&p) == SHUNT_OK && right(&p, 0, 0, 0, 0);
  p.alpha.imaginary = 1;
  good &=
      shunt_csr_spmm_complex_host(&p) == SHUNT_OK && isnan((double)shunt_load_pair(m.c, 0, t).re);
  check(good, "%s: alpha 0 leaves no trace of a NaN, alpha i does", name);

  p.c.cols++;
  good = shunt_csr_spmm_complex_host(&p) == SHUNT_E_ARGUMENT;
  p = make(&m, t, 0);
  p.compute = SHUNT_F32;
  good &= shunt_csr_spmm_complex_host(&p) == SHUNT_E_UNSUPPORTED;
  p = make(&m, t, 0);
  good &= shunt_csr_spmm_host(&p) == SHUNT_E_UNSUPPORTED;
  check(good, "%s: refusals", name);
}

/* B' = (1 1), as A of SDDMM 3 x 1: i, 2, 1 + i; its B 1 x 2: 3, 1 - i. */
static void test_sddmm(shunt_type t, const char *name)
{
  struct memory m;
  static const double left[ROWS][2] = {{0, 1}, {2, 0}, {1, 1}}, top[2][2] = {{3, 0}, {1, -1}};
  static const double want[NNZ][2] = {{0, 3}, {2, 0}, {3, 3}}, old[2] = {4, 0};
  int good = 1;
  for (int turn = 0; turn < 2; turn++) {
    struct shunt_sddmm p = {.a = {ROWS, 1, 1, 1, m.a, t},
                            .b = {1, 2, 2, 1, m.b, t},
                            .c = {ROWS, 2, NNZ, m.offsets, m.columns, m.c, SHUNT_I32, t, turn},
                            .alpha = {NULL, 0, 1},
                            .compute = t};
    if (turn) p.beta.imaginary = 0.5; /* of 4: 2 i */
    store_indices(m.offsets, offsets, ROWS + 1, SHUNT_I32, turn);
    store_indices(m.columns, columns, NNZ, SHUNT_I32, turn);
    for (int i = 0; i < ROWS; i++) put(m.a, i, t, left[i]);
    for (int i = 0; i < 2; i++) put(m.b, i, t, top[i]);
    for (int i = 0; i < NNZ; i++) put(m.c, i, t, old);
    good &= shunt_csr_sddmm_host(&p) == SHUNT_OK;
    for (int i = 0; i < NNZ; i++) good &= is(m.c, i, t, -want[i][1], want[i][0] + (turn ? 2 : 0));
  }
  check(good, "%s: SDDMM, complex alpha and beta", name);
}

int main(void)
{
  test_spmm(SHUNT_C32, "c32");
  test_spmm(SHUNT_C64, "c64");
  test_sddmm(SHUNT_C32, "c32");
  test_sddmm(SHUNT_C64, "c64");
  return check_finish();
}
