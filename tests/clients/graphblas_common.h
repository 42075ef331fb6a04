/* graphblas_common.h: what the GraphBLAS demonstrators share: reading a matrix file, full
   matrices of random values, timing, and the table row that each prints.

   They know GraphBLAS and the readers of conv/, nothing of Shunt: run one plain and under the
   preload and compare the rows.

     | program | matrix | size | nnz | width | ms a step | of it products | check |

   The check compares with plain C loops in double; a program fails if it does not hold.  */
#ifndef GRAPHBLAS_COMMON_H
#define GRAPHBLAS_COMMON_H

#include <GraphBLAS.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conv/read/read.h"

/* For what no test is about: says where it failed and leaves. */
#define GRB_OK(call)                                                                               \
  do {                                                                                             \
    GrB_Info info_ = (call);                                                                       \
    if (info_ != GrB_SUCCESS) {                                                                    \
      printf("not ok - %s:%d %s: %d\n", __FILE__, __LINE__, #call, (int)info_);                    \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

/* CLIENT_CLOCK=cpu: the process' CPU time, for machines that do other work besides. */
static inline double seconds_now(void)
{
  static clockid_t clock = -1;
  struct timespec t;
  if (clock == -1) {
    const char *wish = getenv("CLIENT_CLOCK");
    clock = wish && strcmp(wish, "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  }
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time spent in products; a step sets it to 0. */
static double product_seconds;
#define TIME_PRODUCT(call)                                                                         \
  do {                                                                                             \
    double start_ = seconds_now();                                                                 \
    GRB_OK(call);                                                                                  \
    product_seconds += seconds_now() - start_;                                                     \
  } while (0)

static inline const char *file_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static inline void *must(void *p)
{
  if (!p) {
    printf("not ok - no memory\n");
    exit(2);
  }
  return p;
}

static inline struct shunt_matrix read_or_leave(const char *path)
{
  struct shunt_matrix m;
  struct shunt_message why;
  if (shunt_read_matrix(path, &m, &why) != SHUNT_OK) {
    printf("not ok - %s\n", why.text);
    exit(2);
  }
  return m;
}

/* CSR to a GrB_Matrix of FP32 by row; NULL values: all 1. */
static inline GrB_Matrix grb_sparse(const struct shunt_matrix *m, const double *values)
{
  size_t n = (size_t)m->nnz;
  GrB_Index *rows = must(malloc((n + 1) * sizeof *rows));
  GrB_Index *columns = must(malloc((n + 1) * sizeof *columns));
  float *x = must(malloc((n + 1) * sizeof *x));
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t p = m->row_offsets[i]; p < m->row_offsets[i + 1]; p++) {
      rows[p] = (GrB_Index)i;
      columns[p] = (GrB_Index)m->columns[p];
      x[p] = values ? (float)values[p] : 1.0f;
    }
  GrB_Matrix a;
  GRB_OK(GrB_Matrix_new(&a, GrB_FP32, (GrB_Index)m->rows, (GrB_Index)m->cols));
  GRB_OK(GrB_Matrix_build_FP32(a, rows, columns, x, n, GrB_PLUS_FP32));
  GRB_OK(GrB_Matrix_wait(a, GrB_MATERIALIZE));
  free(rows);
  free(columns);
  free(x);
  return a;
}

/* A full matrix from row-major values, held by row or by column. */
static inline GrB_Matrix grb_full(const float *values, int64_t rows, int64_t cols, int by_column)
{
  size_t bytes = (size_t)(rows * cols) * sizeof *values;
  void *copy = must(malloc(bytes));
  memcpy(copy, values, bytes);
  GrB_Matrix a;
  GRB_OK(GrB_Matrix_new(&a, GrB_FP32, (GrB_Index)rows, (GrB_Index)cols));
  GRB_OK(GxB_Matrix_pack_FullR(a, &copy, bytes, false, NULL));
  if (by_column) GRB_OK(GxB_Matrix_Option_set(a, GxB_FORMAT, GxB_BY_COL));
  return a;
}

/* Entry by entry into row-major values; places without an entry become 0. */
static inline float *grb_values(GrB_Matrix a, int64_t rows, int64_t cols)
{
  GrB_Index n;
  GRB_OK(GrB_Matrix_nvals(&n, a));
  GrB_Index *i = must(malloc((n + 1) * sizeof *i)), *j = must(malloc((n + 1) * sizeof *j));
  float *x = must(malloc((n + 1) * sizeof *x));
  float *out = must(calloc((size_t)(rows * cols) + 1, sizeof *out));
  GRB_OK(GrB_Matrix_extractTuples_FP32(i, j, x, &n, a));
  for (GrB_Index e = 0; e < n; e++) out[(int64_t)i[e] * cols + (int64_t)j[e]] = x[e];
  free(i);
  free(j);
  free(x);
  return out;
}

static inline float *random_values(int64_t count, uint64_t seed)
{
  double *d = must(malloc(((size_t)count + 1) * sizeof *d));
  float *x = must(malloc(((size_t)count + 1) * sizeof *x));
  shunt_fill_values(d, count, seed);
  for (int64_t i = 0; i < count; i++) x[i] = (float)d[i];
  free(d);
  return x;
}

/* The best of several steps, and the sum of all. */
struct step_time {
  double whole, products, sum;
};

static inline void keep_best(struct step_time *best, double whole, double products)
{
  const double sum = best->sum + whole;
  if (best->whole == 0 || whole < best->whole) *best = (struct step_time){whole, products, 0};
  best->sum = sum;
}

/* With CLIENT_LOOP=1 also what all steps took, for tests/gpu/gained.py. */
static inline void print_loop(const struct step_time *t)
{
  if (getenv("CLIENT_LOOP")) printf("value loop_us=%.1f\n", 1e6 * t->sum);
}

/* The row; 0 if the check holds. */
static inline int print_row(const char *program, const char *path, const struct shunt_matrix *m,
                            int64_t width, struct step_time t, double error, double limit)
{
  int good = error <= limit;
  printf("| %s | %s | %ld x %ld | %ld | %ld | %.2f | %.2f | %s (%.1e) |\n", program,
         file_name(path), (long)m->rows, (long)m->cols, (long)m->nnz, (long)width, 1e3 * t.whole,
         1e3 * t.products, good ? "ok" : "wrong", error);
  print_loop(&t);
  if (!good) printf("not ok - error %.3e, limit %.3e\n", error, limit);
  return !good;
}

#endif
