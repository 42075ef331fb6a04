/* rng.h: random numbers, the same on every machine. */
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <stdbool.h>
#include <stdint.h>

#include "../splitmix64.h"

static inline uint64_t rng_next(uint64_t *state)
{
  return splitmix64(state);
}

static inline double rng_unit(uint64_t *state) /* [0, 1) */
{
  return (double)(rng_next(state) >> 11) * 0x1p-53;
}

static inline int64_t rng_below(uint64_t *state, int64_t n)
{
  return (int64_t)(rng_next(state) % (uint64_t)n);
}

static inline bool rng_chance(uint64_t *state, int percent)
{
  return rng_below(state, 100) < percent;
}

#endif
