/* host_csr_spmm_transposed.c: C = alpha A^T B + beta C for A in CSR, on the host: the slow,
   obviously right twin of csr_spmm_transposed.cu.

     A  k x m in CSR       B  k x n       C  m x n

   One column of C at a time: A's entries, in the order of storage, add to a column of sums,
   which is then rounded into C once.  C is not read when beta is 0.  */
#include <stdlib.h>

#include "kernels/common/host_element.h"
#include "kernels/csr/csr_kernels.h"

static void add_entries(const struct shunt_spmm *p, int64_t j, float *sums)
{
  const struct shunt_csr *a = &p->a;
  for (int64_t k = 0; k < a->rows; k++) {
    int64_t end = shunt_index_at(a->row_offsets, k + 1, a->index_type) - a->base;
    for (int64_t q = shunt_index_at(a->row_offsets, k, a->index_type) - a->base; q < end; q++)
      sums[shunt_index_at(a->columns, q, a->index_type) - a->base] +=
          (float)shunt_load(a->values, q, a->value_type) *
          (float)shunt_load(p->b.values, k * p->b.row_stride + j * p->b.col_stride, p->b.type);
  }
}

shunt_status shunt_csr_spmm_transposed_host(const struct shunt_spmm *p)
{
  const float alpha = (float)shunt_scalar_value(&p->alpha, SHUNT_F32),
              beta = (float)shunt_scalar_value(&p->beta, SHUNT_F32);
  shunt_type t = p->b.type;
  if (p->b.rows != p->a.rows || p->c.rows != p->a.cols || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (p->compute != SHUNT_F32 || p->a.value_type != t || (p->c.type != t && p->c.type != SHUNT_F32))
    return SHUNT_E_UNSUPPORTED;
  if (t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->a.index_type != SHUNT_I32 && p->a.index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if ((p->only_if && *p->only_if == 0) || p->c.rows <= 0) return SHUNT_OK;
  float *sums = malloc((size_t)p->c.rows * sizeof *sums);
  if (!sums) return SHUNT_E_MEMORY;
  for (int64_t j = 0; j < p->c.cols; j++) {
    for (int64_t i = 0; i < p->c.rows; i++) sums[i] = 0;
    add_entries(p, j, sums);
    for (int64_t i = 0; i < p->c.rows; i++) {
      int64_t at = i * p->c.row_stride + j * p->c.col_stride;
      float x = alpha == 0 ? 0 : alpha * sums[i];
      if (beta != 0) x += beta * (float)shunt_load(p->c.values, at, p->c.type);
      shunt_store(p->c.values, at, p->c.type, x);
    }
  }
  free(sums);
  return SHUNT_OK;
}
