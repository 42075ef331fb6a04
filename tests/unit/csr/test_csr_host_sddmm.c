/* test_csr_host_sddmm.c: the host SDDMM against answers computed by hand. */
#include <math.h>

#include "kernels/common/host_half.h"
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/check.h"
#include "tests/unit/csr/by_hand.h"

/*       | 1 2 |        | 5 7  9 |           | 17 23  29 |
     A = | 3 4 |    B = | 6 8 10 |     A B = | 39 53  67 |
         | 0 1 |                             |  6  8  10 |

   C's pattern:  row 0: columns 2, 0 (unsorted);  row 1: none;  row 2: 1, 1 (twice).
   A B at it:    29, 17;  -;  8, 8.  */
enum { M = 3, N = 3, K = 2, NNZ = 4 };
static const double A[M][K] = {{1, 2}, {3, 4}, {0, 1}};
static const double B[K][N] = {{5, 7, 9}, {6, 8, 10}};
static const double AT_PATTERN[NNZ] = {29, 17, 8, 8};

struct memory {
  double a[64], b[64], c[NNZ]; /* room for the widest type */
  int64_t offsets[M + 1], columns[NNZ];
};

static struct shunt_dense dense(void *values, int64_t rows, int64_t cols, int row_major, int64_t ld,
                                shunt_type t)
{
  struct shunt_dense d = {rows, cols, row_major ? ld : 1, row_major ? 1 : ld, values, t};
  return d;
}

/* The problem above in the given types and layouts, padding and C's old content
   set to `old`.  */
static struct shunt_sddmm problem(struct memory *m, shunt_type in, shunt_type out, shunt_type index,
                                  int base, int a_rows, int b_rows, double old)
{
  static const int offsets[M + 1] = {0, 2, 2, 4}, columns[NNZ] = {2, 0, 1, 1};
  struct shunt_sddmm p = {0};

  p.a = dense(m->a, M, K, a_rows, 5, in);
  p.b = dense(m->b, K, N, b_rows, 4, in);
  for (int i = 0; i < 64; i++) {
    store(m->a, i, in, in == SHUNT_I8 ? 77 : NAN);
    store(m->b, i, in, in == SHUNT_I8 ? 77 : NAN);
  }
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++) store(m->a, i * p.a.row_stride + k * p.a.col_stride, in, A[i][k]);
  for (int k = 0; k < K; k++)
    for (int j = 0; j < N; j++) store(m->b, k * p.b.row_stride + j * p.b.col_stride, in, B[k][j]);
  store_indices(m->offsets, offsets, M + 1, index, base);
  store_indices(m->columns, columns, NNZ, index, base);
  for (int i = 0; i < NNZ; i++) store(m->c, i, out, old);
  p.c = (struct shunt_csr){M, N, NNZ, m->offsets, m->columns, m->c, index, out, base};
  p.compute = in == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
  p.alpha.host = 1;
  return p;
}

static int equals(const struct shunt_sddmm *p, double alpha, double plus)
{
  for (int i = 0; i < NNZ; i++)
    if (load(p->c.values, i, p->c.value_type) != alpha * AT_PATTERN[i] + plus) return 0;
  return 1;
}

static void test_types(void)
{
  static const shunt_type in[] = {SHUNT_F16,  SHUNT_F16, SHUNT_BF16,
                                  SHUNT_BF16, SHUNT_F32, SHUNT_F64};
  static const shunt_type out[] = {SHUNT_F16, SHUNT_F32, SHUNT_BF16,
                                   SHUNT_F32, SHUNT_F32, SHUNT_F64};
  struct memory m;

  for (int t = 0; t < 6; t++)
    for (int layout = 0; layout < 8; layout++) {
      struct shunt_sddmm p = problem(&m, in[t], out[t], layout & 1 ? SHUNT_I64 : SHUNT_I32,
                                     layout & 1, layout & 2, layout & 4, NAN);
      check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 1, 0),
            "types %d -> %d, layout %d: A B at the pattern", in[t], out[t], layout);
    }
}

/* Of int8; into int32 sums wrap, as alpha's and beta's products do. */
static void test_integers(void)
{
  struct memory m;
  const int32_t alpha = 3, beta = 1 << 30;
  for (int layout = 0; layout < 8; layout++)
    for (int wide = 0; wide < 2; wide++) {
      const shunt_type out = wide ? SHUNT_F32 : SHUNT_I32;
      struct shunt_sddmm p = problem(&m, SHUNT_I8, out, layout & 1 ? SHUNT_I64 : SHUNT_I32,
                                     layout & 1, layout & 2, layout & 4, 10);
      p.compute = out;
      p.alpha.host = 2;
      p.beta.host = -1;
      check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 2, -10), "int8 into %s, layout %d",
            wide ? "f32" : "int32", layout);
    }
  struct shunt_sddmm p = problem(&m, SHUNT_I8, SHUNT_I32, SHUNT_I32, 0, 1, 0, 6);
  p.compute = SHUNT_I32;
  p.alpha.device = &alpha;
  p.beta.device = &beta; /* 6 * 2^30 = 2^31 modulo 2^32 */
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 3, -2147483648.0),
        "int8 into int32 wraps, scalars by pointer");
  p.compute = SHUNT_F32;
  check(shunt_csr_sddmm_host(&p) == SHUNT_E_UNSUPPORTED, "int32 by sums in f32 are refused");
}

static void test_scalars(void)
{
  struct memory m;
  float half = 0.5f, three = 3, zero = 0;
  struct shunt_sddmm p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 0, 10);

  p.alpha.host = 2;
  p.beta.host = -1;
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 2, -10), "alpha 2, beta -1");

  p = problem(&m, SHUNT_F16, SHUNT_F16, SHUNT_I32, 1, 1, 1, 10);
  p.alpha.device = &half;
  p.beta.device = &three;
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 0.5, 30), "scalars by pointer");

  p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 1, INFINITY);
  p.beta.device = &zero;
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 1, 0), "beta 0 by pointer: C unread");
}

static void test_edges(void)
{
  struct memory m;
  struct shunt_sddmm p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 0, 4);

  p.a.cols = p.b.rows = 0;
  p.beta.host = 2;
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 0, 8), "K = 0: C = beta C");

  p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 0, 4);
  p.c.nnz = 0;
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 0, 4), "no entries: nothing written");

  p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 0, 4);
  p.a.cols = 1;
  check(shunt_csr_sddmm_host(&p) == SHUNT_E_ARGUMENT && equals(&p, 0, 4), "shapes that differ");

  p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 0, 4);
  p.b.type = SHUNT_F64;
  check(shunt_csr_sddmm_host(&p) == SHUNT_E_UNSUPPORTED && equals(&p, 0, 4), "types that differ");

  p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 0, NAN);
  store(m.a, 1 * 5, SHUNT_F32, INFINITY); /* row 1 has no entries */
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && equals(&p, 1, 0), "rows without entries unread");

  p = problem(&m, SHUNT_F32, SHUNT_F32, SHUNT_I32, 0, 1, 1, NAN);
  store(m.b, 2, SHUNT_F32, NAN); /* column 2: entry 0 only */
  check(shunt_csr_sddmm_host(&p) == SHUNT_OK && isnan(load(m.c, 0, SHUNT_F32)) &&
            load(m.c, 1, SHUNT_F32) == 17,
        "a NaN reaches the entries of its column and no others");
}

int main(void)
{
  test_types();
  test_integers();
  test_scalars();
  test_edges();
  return check_finish();
}
