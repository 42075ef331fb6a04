/* host_srbcrs_integers.h: one integer of a dense matrix, and one result of a sum, for the twins. */
#ifndef SHUNT_HOST_SRBCRS_INTEGERS_H
#define SHUNT_HOST_SRBCRS_INTEGERS_H

#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/srbcrs/srbcrs_integers.h"

static inline int64_t shunt_integer_at(const struct shunt_integers *m, int64_t i, int64_t j)
{
  const char *row = (const char *)m->values + i * m->row_bytes;
  int64_t x = (unsigned char)row[j / 2] >> j % 2 * 4 & 15;
  if (m->bits == 16) x = ((const uint16_t *)(const void *)row)[j];
  if (m->bits == 8) x = ((const uint8_t *)row)[j];
  return m->is_unsigned || x >> (m->bits - 1) == 0 ? x : x - (INT64_C(1) << m->bits);
}

/* Of problem z, of so many rows and columns each: operands and scales. */
static inline struct shunt_integers shunt_integers_of(const struct shunt_integers *m, int64_t z)
{
  struct shunt_integers one = *m;
  one.values = (const char *)m->values + z * m->rows * m->row_bytes;
  return one;
}
static inline struct shunt_scaling shunt_scaling_of(const struct shunt_scaling *s, int64_t z,
                                                    int64_t rows, int64_t cols)
{
  struct shunt_scaling one = *s;
  if (s->tensor_scale) one.tensor_scale += z;
  if (s->row_scales) one.row_scales += z * rows;
  if (s->col_scales) one.col_scales += z * cols;
  return one;
}

/* to[at] = what `sum`, of row i and column j, becomes. */
static inline void shunt_put_scaled(const struct shunt_scaling *s, void *to, int64_t at,
                                    uint32_t sum, int64_t i, int64_t j)
{
  const int32_t wrapped = (int32_t)sum;
  if (s->type == SHUNT_I32) {
    ((int32_t *)to)[at] = wrapped;
    return;
  }
  float factor = s->tensor_scale ? s->scale * s->tensor_scale[0] : s->scale;
  factor = s->row_scales ? factor * s->row_scales[i] : factor;
  factor = s->col_scales ? factor * s->col_scales[j] : factor;
  const float x = (float)wrapped * factor;
  if (s->type == SHUNT_I8)
    ((int8_t *)to)[at] = (int8_t)(x != x ? 0 : rintf(fminf(fmaxf(x, -128), 127)));
  else
    shunt_store(to, at, s->type, (double)x);
}

#endif
