/* random.h: random numbers, and indices of either type, for unit tests.

   A test that wants numbers of its own defines RANDOM_SEED before it includes this. */
#ifndef RANDOM_H
#define RANDOM_H

#include "kernels/common/types.h"
#include "tests/splitmix64.h"

#ifndef RANDOM_SEED
#define RANDOM_SEED 1
#endif

static uint64_t random_state = RANDOM_SEED;

static inline uint64_t random_next(void)
{
  return splitmix64(&random_state);
}

static inline int64_t random_below(int64_t n)
{
  return (int64_t)(random_next() % (uint64_t)n);
}

static inline double random_unit(void) /* [0, 1) */
{
  return (double)(random_next() >> 11) * 0x1p-53;
}

static inline int chance(double p)
{
  return random_unit() < p;
}

/* ---- indices of either type ------------------------------------------------------ */

static inline int64_t get(const void *array, shunt_type type, int64_t i)
{
  return type == SHUNT_I32 ? ((const int32_t *)array)[i] : ((const int64_t *)array)[i];
}

static inline void put(void *array, shunt_type type, int64_t i, int64_t v)
{
  if (type == SHUNT_I32)
    ((int32_t *)array)[i] = (int32_t)v;
  else
    ((int64_t *)array)[i] = v;
}

#endif
