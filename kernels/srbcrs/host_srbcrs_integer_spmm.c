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

static void one_problem(const struct shunt_srbcrs_integer_spmm *p, const struct shunt_srbcrs *v,
                        int64_t z)
{
  const int64_t n = p->c_first + z;
  struct shunt_srbcrs_integer_spmm one = *p;
  struct shunt_srbcrs a = *v;
  one.b = shunt_integers_of(&p->b, z);
  one.scaling = shunt_scaling_of(&p->scaling, z, v->rows, p->b.cols);
  a.values += z * (p->problems.places / 8 * v->bits);
  int64_t to = 0;
  if (p->problems.count > 1) to = n / p->heads * p->batch_stride + n % p->heads * p->head_stride;
  for (int64_t i = 0; i < v->rows; i++)
    for (int64_t j = 0; j < p->b.cols; j++)
      shunt_put_scaled(&one.scaling, p->c, to + i * p->c_row_stride + j, sum_of(&one, &a, i, j), i,
                       j);
}

shunt_status shunt_srbcrs_integer_spmm_host(const struct shunt_srbcrs_integer_spmm *p,
                                            const struct shunt_srbcrs *v)
{
  const shunt_type t = p->scaling.type;
  if (!shunt_is_scaled_type(t)) return SHUNT_E_UNSUPPORTED;
  if (p->b.bits > v->bits) return SHUNT_E_UNSUPPORTED;
  if (!shunt_integers_fit(&p->b, v->cols, p->b.cols) || !p->c || p->c_row_stride < p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (!shunt_srbcrs_problems_fit(&p->problems, v->height)) return SHUNT_E_ARGUMENT;
  if (p->problems.count > 1 && (p->heads < 1 || p->c_first < 0)) return SHUNT_E_ARGUMENT;
  for (int64_t z = 0; z < shunt_srbcrs_count(&p->problems); z++) one_problem(p, v, z);
  return SHUNT_OK;
}
