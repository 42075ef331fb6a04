/* host_csr_spmm_complex.c: C = alpha A B + beta C for A in CSR and complex types, on the host: the
   slow, obviously right twin of csr_spmm_c32.cu and csr_spmm_c64.cu.

     C[i, j] = round(alpha * sum over p of row i: values[p] * B[columns[p], j] + beta * C[i, j])

   One element at a time, in the order of storage; sums are kept in long double whatever the type.
   A product is four products of real numbers, with no second thoughts about Inf, as on the device.
   C is not read when beta is 0.  */
#include "kernels/common/host_element.h"
#include "kernels/csr/csr_kernels.h"

static shunt_status check(const struct shunt_spmm *p)
{
  const shunt_type t = p->a.value_type;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (p->a.index_type != SHUNT_I32 && p->a.index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (!shunt_type_is_complex(t)) return SHUNT_E_UNSUPPORTED;
  return p->b.type == t && p->c.type == t && p->compute == t ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

shunt_status shunt_csr_spmm_complex_host(const struct shunt_spmm *p)
{
  const struct shunt_csr *a = &p->a;
  const shunt_status status = check(p);
  if (status != SHUNT_OK || (p->only_if && *p->only_if == 0)) return status;
  const shunt_pair alpha = shunt_scalar_pair(&p->alpha, p->compute),
                   beta = shunt_scalar_pair(&p->beta, p->compute);
  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) {
      const int64_t at = i * p->c.row_stride + j * p->c.col_stride;
      const int64_t end = shunt_index_at(a->row_offsets, i + 1, a->index_type) - a->base;
      shunt_pair sum = {0, 0};
      for (int64_t q = shunt_index_at(a->row_offsets, i, a->index_type) - a->base; q < end; q++) {
        const int64_t k = shunt_index_at(a->columns, q, a->index_type) - a->base;
        sum = shunt_pair_add(
            shunt_pair_multiply(
                shunt_load_pair(a->values, q, a->value_type),
                shunt_load_pair(p->b.values, k * p->b.row_stride + j * p->b.col_stride, p->b.type)),
            sum);
      }
      shunt_store_pair(p->c.values, at, p->c.type,
                       shunt_pair_finish(sum, alpha, beta, p->c.values, at, p->c.type));
    }
  return SHUNT_OK;
}
