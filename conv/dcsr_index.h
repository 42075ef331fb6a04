/* dcsr_index.h: index arrays of 32 or 64 bits, for the files conv/dcsr_*.c.  Private to conv/. */
#ifndef SHUNT_CONV_DCSR_INDEX_H
#define SHUNT_CONV_DCSR_INDEX_H

#include "conv/dcsr.h"

static inline int64_t dcsr_index_at(const void *array, shunt_type type, int64_t i)
{
  return type == SHUNT_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

static inline void dcsr_set_index(void *array, shunt_type type, int64_t i, int64_t value)
{
  if (type == SHUNT_I32)
    ((int32_t *)array)[i] = (int32_t)value;
  else
    ((int64_t *)array)[i] = value;
}

/* Entry `from` of one array of values to `to` of another; values are moved, not computed with. */
static inline void dcsr_move(void *to, int64_t i, const void *from, int64_t j, size_t size)
{
  switch (size) {
  case 1:
    ((uint8_t *)to)[i] = ((const uint8_t *)from)[j];
    return;
  case 2:
    ((uint16_t *)to)[i] = ((const uint16_t *)from)[j];
    return;
  case 4:
    ((uint32_t *)to)[i] = ((const uint32_t *)from)[j];
    return;
  default:
    ((uint64_t *)to)[i] = ((const uint64_t *)from)[j];
  }
}

static inline int dcsr_is_index(shunt_type type)
{
  return type == SHUNT_I32 || type == SHUNT_I64;
}

/* Whether indices up to and including `most` fit. */
static inline int dcsr_index_holds(shunt_type type, int64_t most)
{
  return type == SHUNT_I64 || most <= INT32_MAX;
}

/* counts->fault: larger for what comes first in the order of the rules and then of positions, so
   that the device finds the first by a maximum; 0 for none.  */
static inline uint64_t dcsr_fault_word(const struct shunt_dcsr_fault *f)
{
  return f->rule == SHUNT_DCSR_SOUND ? 0 : ~((uint64_t)f->rule << 56 | (uint64_t)f->at);
}

#endif
