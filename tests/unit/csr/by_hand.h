/* by_hand.h: the arrays of problems that are small enough to be worked by hand, in any type. */
#ifndef BY_HAND_H
#define BY_HAND_H

#include "kernels/common/host_half.h"
#include "kernels/common/types.h"

static inline void store(void *to, int64_t i, shunt_type t, double x)
{
  switch (t) {
  case SHUNT_F16: ((uint16_t *)to)[i] = shunt_float_to_half((float)x); break;
  case SHUNT_BF16: ((uint16_t *)to)[i] = shunt_float_to_bfloat((float)x); break;
  case SHUNT_F32: ((float *)to)[i] = (float)x; break;
  case SHUNT_F64: ((double *)to)[i] = x; break;
  case SHUNT_I8: ((int8_t *)to)[i] = (int8_t)x; break;
  default: ((int32_t *)to)[i] = (int32_t)x; break;
  }
}

static inline double load(const void *from, int64_t i, shunt_type t)
{
  switch (t) {
  case SHUNT_F16: return shunt_half_to_float(((const uint16_t *)from)[i]);
  case SHUNT_BF16: return shunt_bfloat_to_float(((const uint16_t *)from)[i]);
  case SHUNT_F32: return ((const float *)from)[i];
  case SHUNT_F64: return ((const double *)from)[i];
  case SHUNT_I8: return ((const int8_t *)from)[i];
  default: return ((const int32_t *)from)[i];
  }
}

/* `array` has room for n indices of 64 bits. */
static inline void store_indices(int64_t *array, const int *from, int n, shunt_type index, int base)
{
  for (int i = 0; i < n; i++)
    if (index == SHUNT_I64)
      array[i] = from[i] + base;
    else
      ((int32_t *)array)[i] = from[i] + base;
}

#endif
