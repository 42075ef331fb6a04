/* graphblas_als.c: a step of low-rank factorisation of ratings, in plain GraphBLAS.

     S<R> = U V'        what the factors say, at the ratings alone (sampled dense x dense)
     E = R - S
     U += rate E V,     V += rate E' U

   R: the file's entries as ratings; U and V full, WIDTH columns.  `--by-column` holds U and V
   by column, the orientation in which GraphBLAS takes minutes for the first product of a
   matrix of 20,000 rows.

     graphblas_als FILE.mtx[.gz] [WIDTH [STEPS]] [--by-column]  */
#include "graphblas_common.h"

static const double rate = 1e-3;

struct factors {
  GrB_Matrix ratings, u, v, sampled, errors;
};

static void step(const struct factors *f)
{
  GrB_Semiring plus_times = GrB_PLUS_TIMES_SEMIRING_FP32;
  TIME_PRODUCT(GrB_mxm(f->sampled, f->ratings, NULL, plus_times, f->u, f->v, GrB_DESC_RST1));
  GRB_OK(GrB_Matrix_eWiseAdd_BinaryOp(f->errors, NULL, NULL, GrB_MINUS_FP32, f->ratings, f->sampled,
                                      NULL));
  GRB_OK(GrB_Matrix_apply_BinaryOp2nd_FP32(f->errors, NULL, NULL, GrB_TIMES_FP32, f->errors,
                                           (float)rate, NULL));
  TIME_PRODUCT(GrB_mxm(f->u, NULL, GrB_PLUS_FP32, plus_times, f->errors, f->v, NULL));
  TIME_PRODUCT(GrB_mxm(f->v, NULL, GrB_PLUS_FP32, plus_times, f->errors, f->u, GrB_DESC_T0));
}

/* The same step in double. */
static void step_exact(const struct shunt_matrix *r, double *u, double *v, double *e, int64_t k)
{
  for (int64_t i = 0; i < r->rows; i++)
    for (int64_t p = r->row_offsets[i]; p < r->row_offsets[i + 1]; p++) {
      double sum = 0;
      for (int64_t c = 0; c < k; c++) sum += u[i * k + c] * v[r->columns[p] * k + c];
      e[p] = rate * (r->values[p] - sum);
    }
  for (int64_t i = 0; i < r->rows; i++)
    for (int64_t p = r->row_offsets[i]; p < r->row_offsets[i + 1]; p++)
      for (int64_t c = 0; c < k; c++) u[i * k + c] += e[p] * v[r->columns[p] * k + c];
  for (int64_t i = 0; i < r->rows; i++)
    for (int64_t p = r->row_offsets[i]; p < r->row_offsets[i + 1]; p++)
      for (int64_t c = 0; c < k; c++) v[r->columns[p] * k + c] += e[p] * u[i * k + c];
}

static double *widen(const float *x, int64_t count)
{
  double *d = must(malloc((size_t)count * sizeof *d));
  for (int64_t i = 0; i < count; i++) d[i] = x[i];
  return d;
}

static double check(const struct shunt_matrix *r, const float *u0, const float *v0, int64_t k,
                    int steps, const float *u)
{
  double *eu = widen(u0, r->rows * k), *ev = widen(v0, r->cols * k);
  double *e = must(malloc((size_t)(r->nnz + 1) * sizeof *e)), worst = 0;
  for (int s = 0; s < steps; s++) step_exact(r, eu, ev, e, k);
  for (int64_t i = 0; i < r->rows * k; i++) worst = fmax(worst, fabs(eu[i] - u[i]));
  free(eu);
  free(ev);
  free(e);
  return worst;
}

int main(int argc, char **argv)
{
  int by_column = argc > 1 && strcmp(argv[argc - 1], "--by-column") == 0;
  argc -= by_column;
  if (argc < 2)
    return fprintf(stderr, "usage: graphblas_als FILE [WIDTH [STEPS]] [--by-column]\n"), 2;
  int64_t k = argc > 2 ? atol(argv[2]) : 32;
  int steps = argc > 3 ? atoi(argv[3]) : 5;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct shunt_matrix r = read_or_leave(argv[1]);
  shunt_fill_values(r.values, r.nnz, 9); /* ratings in [-1, 1) */
  float *u0 = random_values(r.rows * k, 6), *v0 = random_values(r.cols * k, 7);
  struct factors f = {.ratings = grb_sparse(&r, r.values)};
  f.u = grb_full(u0, r.rows, k, by_column);
  f.v = grb_full(v0, r.cols, k, by_column);
  GRB_OK(GrB_Matrix_new(&f.sampled, GrB_FP32, (GrB_Index)r.rows, (GrB_Index)r.cols));
  GRB_OK(GrB_Matrix_new(&f.errors, GrB_FP32, (GrB_Index)r.rows, (GrB_Index)r.cols));
  struct step_time best = {0, 0, 0};
  for (int s = 0; s < steps; s++) {
    double begin = seconds_now();
    product_seconds = 0;
    step(&f);
    keep_best(&best, seconds_now() - begin, product_seconds);
  }
  float *u = grb_values(f.u, r.rows, k);
  int bad = print_row(by_column ? "als, by column" : "als", argv[1], &r, k, best,
                      check(&r, u0, v0, k, steps, u), 1e-4);
  GrB_Matrix *all[] = {&f.ratings, &f.u, &f.v, &f.sampled, &f.errors};
  for (int i = 0; i < 5; i++) GRB_OK(GrB_Matrix_free(all[i]));
  free(u);
  free(u0);
  free(v0);
  shunt_matrix_free(&r);
  GRB_OK(GrB_finalize());
  return bad;
}
