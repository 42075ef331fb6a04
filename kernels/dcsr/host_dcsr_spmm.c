/* host_dcsr_spmm.c: C = alpha A B + beta C for A in the `dcsr` format, on the host: the slow twins
   of the kernels of kernels/dcsr/dcsr_kernels.h.

     C[i, j] = round(alpha * sum of row i's entries: value * B[column, j]  + beta * C[i, j]),
               C is not read when beta is 0; rows without entries have the sum 0

   Two traversals, which differ in the order in which that sum is taken:

     C-stationary   ((e0 + e1) + e2) + e3 ..           entries of the row in order of storage
     B-stationary   ((e0 + e1) + (e2 + e3)) + ..       each segment first, then strip by strip

   (What stays on the chip while the rest streams past: Fujiki et al., SC '19.)  Sums are kept in
   the compute type and rounded once.  A sum of floats is kept in a double between two additions,
   which holds it exactly.  */
#include "kernels/common/host_element.h"
#include "kernels/dcsr/dcsr_kernels.h"

/* One operation in the compute type: each is rounded to float where that is f32. */
static double times(shunt_type compute, double x, double y)
{
  return compute == SHUNT_F32 ? (double)((float)x * (float)y) : x * y;
}

static double plus(shunt_type compute, double x, double y)
{
  return compute == SHUNT_F32 ? (double)((float)x + (float)y) : x + y;
}

static double scalar(const struct shunt_scalar *s, shunt_type compute)
{
  double x = shunt_scalar_value(s, compute);

  return compute == SHUNT_F32 ? (double)(float)x : x;
}

static shunt_status check(const struct shunt_spmm *p, const struct shunt_dcsr *d)
{
  int wide = d->value_type == SHUNT_F64;
  int half = d->value_type == SHUNT_F16 || d->value_type == SHUNT_BF16;

  if (!half && !wide && d->value_type != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->compute != (wide ? SHUNT_F64 : SHUNT_F32) || p->b.type != d->value_type)
    return SHUNT_E_UNSUPPORTED;
  if (p->c.type != d->value_type && !(half && p->c.type == SHUNT_F32)) return SHUNT_E_UNSUPPORTED;
  if (p->b.rows != d->cols || p->c.rows != d->rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  return d->counts->irregular ? SHUNT_E_ARGUMENT : SHUNT_OK;
}

/* The sum over the entries of segment g, column j of B. */
static double segment_sum(const struct shunt_spmm *p, const struct shunt_dcsr *d, int64_t g,
                          int64_t j)
{
  int64_t end = shunt_index_at(d->offsets, g + 1, d->index_type);
  double sum = 0;

  for (int64_t q = shunt_index_at(d->offsets, g, d->index_type); q < end; q++) {
    int64_t column = shunt_index_at(d->columns, q, d->index_type);
    double b = shunt_load(p->b.values, column * p->b.row_stride + j * p->b.col_stride, p->b.type);
    sum = plus(p->compute, sum, times(p->compute, shunt_load(d->values, q, d->value_type), b));
  }
  return sum;
}

static void finish(const struct shunt_spmm *p, int64_t i, int64_t j, double sum)
{
  int64_t at = i * p->c.row_stride + j * p->c.col_stride;
  double alpha = scalar(&p->alpha, p->compute), beta = scalar(&p->beta, p->compute);
  double x = alpha == 0 ? 0 : times(p->compute, alpha, sum);

  if (beta != 0)
    x = plus(p->compute, x, times(p->compute, beta, shunt_load(p->c.values, at, p->c.type)));
  shunt_store(p->c.values, at, p->c.type, x);
}

shunt_status shunt_dcsr_spmm_rows_host(const struct shunt_spmm *p, const struct shunt_dcsr *d)
{
  shunt_status status = check(p, d);

  if (status != SHUNT_OK) return status;
  if (d->strips > 1) return SHUNT_E_UNSUPPORTED;
  if (p->only_if && *p->only_if == 0) return SHUNT_OK;
  for (int64_t j = 0; j < p->c.cols; j++) {
    int64_t g = 0;
    for (int64_t i = 0; i < d->rows; i++) {
      int present =
          g < (int64_t)d->counts->segments && shunt_index_at(d->row_ids, g, d->index_type) == i;
      finish(p, i, j, present ? segment_sum(p, d, g, j) : 0);
      g += present;
    }
  }
  return SHUNT_OK;
}

size_t shunt_dcsr_spmm_strips_workspace_host(const struct shunt_spmm *p)
{
  return (size_t)p->c.rows * sizeof(double);
}

shunt_status shunt_dcsr_spmm_strips_host(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                                         void *workspace, size_t workspace_bytes)
{
  double *sums = workspace;
  shunt_status status = check(p, d);

  if (status != SHUNT_OK) return status;
  if (workspace_bytes < shunt_dcsr_spmm_strips_workspace_host(p) || (uintptr_t)workspace % 8)
    return SHUNT_E_WORKSPACE;
  if (p->only_if && *p->only_if == 0) return SHUNT_OK;
  for (int64_t j = 0; j < p->c.cols; j++) {
    for (int64_t i = 0; i < d->rows; i++) sums[i] = 0;
    for (int64_t g = 0; g < (int64_t)d->counts->segments; g++) { /* strip after strip */
      int64_t i = shunt_index_at(d->row_ids, g, d->index_type);
      sums[i] = plus(p->compute, sums[i], segment_sum(p, d, g, j));
    }
    for (int64_t i = 0; i < d->rows; i++) finish(p, i, j, sums[i]);
  }
  return SHUNT_OK;
}
