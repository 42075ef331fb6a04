/* host_srbcrs_spmm.c: SpMM over strides on the host, the twin of srbcrs_spmm.cuh: every slot of
   every stride, padding included, as the mma takes them. */
#include "kernels/srbcrs/srbcrs_kernels.h"

static int32_t wrapped(uint32_t bits)
{
  return (int32_t)bits;
}

static const int8_t *element_of_b(const struct shunt_dense *b, int64_t i, int64_t j)
{
  return (const int8_t *)b->values + i * b->row_stride + j * b->col_stride;
}

static int32_t sum_of(const struct shunt_spmm *p, const struct shunt_srbcrs *v, int64_t row,
                      int64_t column)
{
  const int64_t g = row / v->height, stride = SHUNT_SRBCRS_STRIDE;
  const int64_t end = (v->end[g] + stride - 1) / stride * stride;
  uint32_t sum = 0;
  for (int64_t s = v->begin[g]; s < end; s++) {
    const int a = shunt_srbcrs_value(v, (int)(row % v->height), s);
    const int b = *element_of_b(&p->b, v->columns[s], column);
    sum += (uint32_t)(a * b);
  }
  return wrapped(sum);
}

static void store_i32(int32_t *c, const struct shunt_spmm *p, int32_t sum)
{
  const uint32_t alpha =
      (uint32_t)(p->alpha.device ? *(const int32_t *)p->alpha.device : (int32_t)p->alpha.host);
  const uint32_t beta =
      (uint32_t)(p->beta.device ? *(const int32_t *)p->beta.device : (int32_t)p->beta.host);
  uint32_t value = alpha * (uint32_t)sum;
  if (beta != 0) value += beta * (uint32_t)*c;
  *c = wrapped(value);
}

static void store_f32(float *c, const struct shunt_spmm *p, int32_t sum)
{
  const float alpha = p->alpha.device ? *(const float *)p->alpha.device : (float)p->alpha.host;
  const float beta = p->beta.device ? *(const float *)p->beta.device : (float)p->beta.host;
  float value = alpha == 0 ? 0 : alpha * (float)sum;
  if (beta != 0) value = __builtin_fmaf(beta, *c, value);
  *c = value;
}

shunt_status shunt_srbcrs_spmm_host(const struct shunt_spmm *p, const struct shunt_srbcrs *v)
{
  if (p->a.value_type != SHUNT_I8 || p->b.type != SHUNT_I8 || p->only_if ||
      p->c.type != p->compute || (p->compute != SHUNT_I32 && p->compute != SHUNT_F32))
    return SHUNT_E_UNSUPPORTED;
  if (v->rows != p->c.rows || v->cols != p->b.rows || p->b.cols != p->c.cols)
    return SHUNT_E_ARGUMENT;
  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) {
      void *c = (int32_t *)p->c.values + i * p->c.row_stride + j * p->c.col_stride;
      const int32_t sum = sum_of(p, v, i, j);
      if (p->compute == SHUNT_I32)
        store_i32(c, p, sum);
      else
        store_f32(c, p, sum);
    }
  return SHUNT_OK;
}
