/* index.h: arrays of 32- or 64-bit indices in host memory.  Private to conv/. */
#ifndef SHUNT_CONV_INDEX_H
#define SHUNT_CONV_INDEX_H

#include "kernels/common/types.h"

static inline int is_index(shunt_type type)
{
  return type == SHUNT_I32 || type == SHUNT_I64;
}

static inline int64_t index_at(const void *array, shunt_type type, int64_t i)
{
  return type == SHUNT_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

/* An index or offset, counted from 0.  Unsigned, so that garbage wraps (to a place that the checks
   refuse).  */
static inline int64_t from_base(int64_t index, int base)
{
  return (int64_t)((uint64_t)index - (uint64_t)base);
}

static inline void set_index(void *array, shunt_type type, int64_t i, int64_t value)
{
  if (type == SHUNT_I32)
    ((int32_t *)array)[i] = (int32_t)value;
  else
    ((int64_t *)array)[i] = value;
}

#endif
