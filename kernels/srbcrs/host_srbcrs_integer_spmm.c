/* host_srbcrs_integer_spmm.c: SpMM over strides for operands of 16, 8 and 4 bits on the host, the
   twin of srbcrs_integer_spmm.cu: every slot of every stride, padding included. */
#include "kernels/srbcrs/host_srbcrs_integers.h"

static uint32_t sum_of(const struct shunt_srbcrs_integer_spmm *p, const struct shunt_srbcrs *v,
                       int64_t row, int64_t column)
{
  const int64_t g = row / v->height, stride = SHUNT_SRBCRS_STRIDE;
  const int64_t end = (v->end[g] + stride - 1) / stride * stride;
  uint32_t sum = 0;
  for (int64_t s = v->begin[g]; s < end; s++)
    sum += (uint32_t)(shunt_srbcrs_value(v, (int)(row % v->height), s) *
                      shunt_integer_at(&p->b, v->columns[s], column));
  return sum;
}

shunt_status shunt_srbcrs_integer_spmm_host(const struct shunt_srbcrs_integer_spmm *p,
                                            const struct shunt_srbcrs *v)
{
  const shunt_type t = p->scaling.type;
  if (!shunt_is_scaled_type(t)) return SHUNT_E_UNSUPPORTED;
  if (p->b.bits > v->bits) return SHUNT_E_UNSUPPORTED;
  if (!shunt_integers_fit(&p->b, v->cols, p->b.cols) || !p->c || p->c_row_stride < p->b.cols)
    return SHUNT_E_ARGUMENT;
  for (int64_t i = 0; i < v->rows; i++)
    for (int64_t j = 0; j < p->b.cols; j++)
      shunt_put_scaled(&p->scaling, p->c, i * p->c_row_stride + j, sum_of(p, v, i, j), i, j);
  return SHUNT_OK;
}
