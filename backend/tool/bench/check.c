/* check.c: a result against a float64 sum, on the host.

   Row by row, for every entry of the result: want = alpha sum + beta before and
   the sum of absolute values that bounds the rounding (tolerance.h).  Of a
   large product only every s-th row is checked, so that checking takes about a
   second; the ragged last row always is.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"
#include "backend/tool/bench/tolerance.h"

static const double most_products = 1e8;

static int64_t index_at(const void *from, int64_t i, shunt_type type, int base)
{
  return (type == SHUNT_I32 ? ((const int32_t *)from)[i] : ((const int64_t *)from)[i]) - base;
}

static int64_t row_begin(const struct shunt_csr *a, int64_t i)
{
  return index_at(a->row_offsets, i, a->index_type, a->base);
}

static double dense_at(const struct shunt_dense *d, int64_t i, int64_t j)
{
  return bench_load(d->values, i * d->row_stride + j * d->col_stride, d->type);
}

static void note_error(struct bench_error *e, double got, double want, double tolerance)
{
  double ratio = bench_error_ratio(got, want, tolerance);
  double error = ratio > 0 ? fabs(got - want) : 0;
  if (!(error <= e->largest)) e->largest = error == error ? error : HUGE_VAL;
  if (ratio > e->ratio) e->ratio = ratio;
}

/* Row i of C = alpha A B + beta C; sum and scale have room for n. */
static void check_spmm_row(const struct shunt_spmm *p, const void *before, int64_t i, double *sum,
                           double *scale, struct bench_error *e)
{
  const struct shunt_csr *a = &p->a;
  int64_t begin = row_begin(a, i), end = row_begin(a, i + 1), n = p->c.cols;
  memset(sum, 0, (size_t)n * sizeof *sum);
  memset(scale, 0, (size_t)n * sizeof *scale);
  for (int64_t at = begin; at < end; at++) {
    int64_t k = index_at(a->columns, at, a->index_type, a->base);
    double x = bench_load(a->values, at, a->value_type);
    for (int64_t j = 0; j < n; j++) {
      double product = x * dense_at(&p->b, k, j);
      sum[j] += product;
      scale[j] += fabs(product);
    }
  }
  for (int64_t j = 0; j < n; j++) {
    int64_t place = i * p->c.row_stride + j * p->c.col_stride;
    double old = p->beta.host != 0 ? p->beta.host * bench_load(before, place, p->c.type) : 0;
    double want = p->alpha.host * sum[j] + old;
    double bound =
        bench_tolerance(p->c.type, p->compute, 0, fabs(p->alpha.host) * scale[j] + fabs(old), want,
                        (double)(end - begin));
    note_error(e, bench_load(p->c.values, place, p->c.type), want, bound);
  }
}

/* Row i of C = alpha (A B) at C's pattern + beta C. */
static void check_sddmm_row(const struct shunt_sddmm *p, const void *before, int64_t i,
                            struct bench_error *e)
{
  const struct shunt_csr *c = &p->c;
  for (int64_t at = row_begin(c, i), end = row_begin(c, i + 1); at < end; at++) {
    int64_t j = index_at(c->columns, at, c->index_type, c->base);
    double sum = 0, scale = 0;
    for (int64_t k = 0; k < p->a.cols; k++) {
      double product = dense_at(&p->a, i, k) * dense_at(&p->b, k, j);
      sum += product;
      scale += fabs(product);
    }
    double old = p->beta.host != 0 ? p->beta.host * bench_load(before, at, c->value_type) : 0;
    double want = p->alpha.host * sum + old;
    double bound =
        bench_tolerance(c->value_type, p->compute, 0, fabs(p->alpha.host) * scale + fabs(old), want,
                        (double)p->a.cols);
    note_error(e, bench_load(c->values, at, c->value_type), want, bound);
  }
}

bool bench_check_host(const struct shunt_problem *p, const void *before, struct bench_error *out)
{
  const struct shunt_csr *a = shunt_problem_sparse(p);
  int64_t width = p->op == SHUNT_SPMM ? p->spmm.c.cols : p->sddmm.a.cols;
  double products = (double)a->nnz * (double)width;
  int64_t step = products > most_products ? (int64_t)(products / most_products) + 1 : 1;
  double *sum = malloc((size_t)width * 2 * sizeof *sum);
  *out = (struct bench_error){0, 0, 0};
  if (!sum) return false;
  for (int64_t i = 0; i < a->rows; i++) {
    if (i % step != 0 && i != a->rows - 1) continue;
    if (p->op == SHUNT_SPMM)
      check_spmm_row(&p->spmm, before, i, sum, sum + width, out);
    else
      check_sddmm_row(&p->sddmm, before, i, out);
    out->rows++;
  }
  free(sum);
  return true;
}
