/* dcsr_index.h: indices, values and faults, for the sources of conv/dcsr.  Private to conv/. */
#ifndef SHUNT_CONV_DCSR_INDEX_H
#define SHUNT_CONV_DCSR_INDEX_H

#include "conv/common/index.h"
#include "conv/dcsr/dcsr_conv.h"

/* Entry `from` of one array of values to `to` of another; values are moved, not computed with. */
static inline void dcsr_move(void *to, int64_t i, const void *from, int64_t j, size_t size)
{
  switch (size) {
  case 1: ((uint8_t *)to)[i] = ((const uint8_t *)from)[j]; return;
  case 2: ((uint16_t *)to)[i] = ((const uint16_t *)from)[j]; return;
  case 4: ((uint32_t *)to)[i] = ((const uint32_t *)from)[j]; return;
  default: ((uint64_t *)to)[i] = ((const uint64_t *)from)[j];
  }
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
