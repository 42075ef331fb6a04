/* tool_draw.h: the random numbers that patterns are made from, the same on every machine. */
#ifndef SHUNT_TOOL_DRAW_H
#define SHUNT_TOOL_DRAW_H

#include <math.h>
#include <stdint.h>

#include "conv/common/splitmix64.h"

static inline double uniform(uint64_t *state) /* in (0, 1) */
{
  return ((double)(shunt_splitmix64(state) >> 12) + 0.5) * 0x1p-52;
}

/* Cells up to the next one, when each is drawn with probability 1 - exp(1 / scale). */
static inline double next_step(double scale, uint64_t *state)
{
  return floor(log(uniform(state)) * scale);
}

static inline double step_scale(double p)
{
  return p < 1 ? 1 / log1p(-p) : 0;
}

#endif
