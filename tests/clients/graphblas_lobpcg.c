/* graphblas_lobpcg.c: the largest eigenvalues of a symmetric matrix by block power iteration,
   the skeleton of LOBPCG, in plain GraphBLAS.

     Y = L X,  G = Y' Y,  X = Y R^-1 with G = R' R (Cholesky)

   L: the Laplacian of the file's pattern, made symmetric (a finite-element mesh, say).  The
   product that costs is L X, sparse x full; Y' Y and Y R^-1 are full and left alone.

     graphblas_lobpcg FILE.mtx[.gz] [WIDTH [STEPS]]  */
#include "graphblas_common.h"

/* D - A over the pattern of A + A' without its diagonal. */
static struct shunt_matrix laplacian(const struct shunt_matrix *a)
{
  int64_t n = a->rows, room = 2 * a->nnz + n;
  struct shunt_matrix l = {.rows = n, .cols = n};
  l.row_offsets = must(calloc((size_t)n + 2, sizeof *l.row_offsets));
  l.columns = must(malloc((size_t)room * sizeof *l.columns));
  l.values = must(malloc((size_t)room * sizeof *l.values));
  int64_t *seen = must(malloc((size_t)n * sizeof *seen));
  int64_t *offsets = must(calloc((size_t)n + 2, sizeof *offsets)); /* of A' */
  int64_t *rows = must(malloc((size_t)(a->nnz + 1) * sizeof *rows));
  for (int64_t p = 0; p < a->nnz; p++) offsets[a->columns[p] + 2]++;
  for (int64_t i = 0; i < n; i++) offsets[i + 2] += offsets[i + 1];
  for (int64_t i = 0; i < n; i++)
    for (int64_t p = a->row_offsets[i]; p < a->row_offsets[i + 1]; p++)
      rows[offsets[a->columns[p] + 1]++] = i;
  for (int64_t i = 0; i < n; i++) seen[i] = -1;
  for (int64_t i = 0; i < n; i++) {
    int64_t diagonal = l.nnz++;
    l.columns[diagonal] = seen[i] = i;
    for (int64_t p = a->row_offsets[i]; p < a->row_offsets[i + 1]; p++)
      if (seen[a->columns[p]] != i) seen[l.columns[l.nnz++] = a->columns[p]] = i;
    for (int64_t p = offsets[i]; p < offsets[i + 1]; p++)
      if (seen[rows[p]] != i) seen[l.columns[l.nnz++] = rows[p]] = i;
    for (int64_t p = diagonal; p < l.nnz; p++) l.values[p] = -1;
    l.values[diagonal] = (double)(l.nnz - diagonal - 1);
    l.row_offsets[i + 1] = l.nnz;
  }
  free(seen);
  free(offsets);
  free(rows);
  return l;
}

/* G = R' R in place, then R^-1 into `inverse`; both k x k by row.  0 if G is not definite. */
static int invert_factor(double *g, int64_t k, float *inverse)
{
  for (int64_t j = 0; j < k; j++) {
    for (int64_t i = 0; i <= j; i++) {
      double sum = g[i * k + j];
      for (int64_t p = 0; p < i; p++) sum -= g[p * k + i] * g[p * k + j];
      if (i == j && !(sum > 0)) return 0;
      g[i * k + j] = i == j ? sqrt(sum) : sum / g[i * k + i];
    }
  }
  double *x = must(calloc((size_t)(k * k), sizeof *x));
  for (int64_t j = 0; j < k; j++) {
    x[j * k + j] = 1 / g[j * k + j];
    for (int64_t i = j - 1; i >= 0; i--) {
      double sum = 0;
      for (int64_t p = i + 1; p <= j; p++) sum -= g[i * k + p] * x[p * k + j];
      x[i * k + j] = sum / g[i * k + i];
    }
  }
  for (int64_t i = 0; i < k * k; i++) inverse[i] = (float)x[i];
  free(x);
  return 1;
}

/* X <- an orthonormal basis of the columns of Y. */
static void orthonormalise(GrB_Matrix x, GrB_Matrix y, int64_t k)
{
  GrB_Matrix gram, r;
  GRB_OK(GrB_Matrix_new(&gram, GrB_FP32, (GrB_Index)k, (GrB_Index)k));
  GRB_OK(GrB_mxm(gram, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, y, y, GrB_DESC_T0));
  float *g = grb_values(gram, k, k), *inverse = must(malloc((size_t)(k * k) * sizeof *inverse));
  double *wide = must(malloc((size_t)(k * k) * sizeof *wide));
  double trace = 0;
  for (int64_t i = 0; i < k; i++) trace += g[i * k + i];
  /* A breath of the identity keeps G definite in float arithmetic. */
  for (int64_t i = 0; i < k * k; i++) wide[i] = g[i] + (i % (k + 1) == 0 ? 1e-5 * trace : 0);
  if (!invert_factor(wide, k, inverse)) {
    printf("not ok - the block has lost its rank\n");
    exit(2);
  }
  r = grb_full(inverse, k, k, 0);
  GRB_OK(GrB_mxm(x, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, y, r, NULL));
  GRB_OK(GrB_Matrix_free(&gram));
  GRB_OK(GrB_Matrix_free(&r));
  free(g);
  free(inverse);
  free(wide);
}

/* The largest difference of Y to L X, in units of the row's sum of |terms|. */
static double check(const struct shunt_matrix *l, const float *x, const float *y, int64_t k)
{
  double worst = 0;
  for (int64_t i = 0; i < l->rows; i++)
    for (int64_t c = 0; c < k; c++) {
      double sum = 0, size = 1e-30;
      for (int64_t p = l->row_offsets[i]; p < l->row_offsets[i + 1]; p++) {
        double t = l->values[p] * x[l->columns[p] * k + c];
        sum += t;
        size += fabs(t);
      }
      worst = fmax(worst, fabs(sum - y[i * k + c]) / size);
    }
  return worst;
}

int main(int argc, char **argv)
{
  if (argc < 2) return fprintf(stderr, "usage: graphblas_lobpcg FILE [WIDTH [STEPS]]\n"), 2;
  int64_t k = argc > 2 ? atol(argv[2]) : 16;
  int steps = argc > 3 ? atoi(argv[3]) : 10;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct shunt_matrix file = read_or_leave(argv[1]), l = laplacian(&file);
  float *start = random_values(l.rows * k, 5);
  GrB_Matrix a = grb_sparse(&l, l.values), x = grb_full(start, l.rows, k, 0), y;
  GRB_OK(GrB_Matrix_new(&y, GrB_FP32, (GrB_Index)l.rows, (GrB_Index)k));
  struct step_time best = {0, 0, 0};
  for (int s = 0; s < steps; s++) {
    double begin = seconds_now();
    product_seconds = 0;
    TIME_PRODUCT(GrB_mxm(y, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, x, NULL));
    if (s == steps - 1) break; /* X stays what Y was made of, for the check */
    orthonormalise(x, y, k);
    keep_best(&best, seconds_now() - begin, product_seconds);
  }
  float *vx = grb_values(x, l.rows, k), *vy = grb_values(y, l.rows, k);
  int bad = print_row("block power", argv[1], &l, k, best, check(&l, vx, vy, k), 1e-5);
  GRB_OK(GrB_Matrix_free(&a));
  GRB_OK(GrB_Matrix_free(&x));
  GRB_OK(GrB_Matrix_free(&y));
  free(start);
  free(vx);
  free(vy);
  shunt_matrix_free(&file);
  shunt_matrix_free(&l);
  GRB_OK(GrB_finalize());
  return bad;
}
