/* tool_draw.h: the random numbers that patterns are made from, the same on every machine. */
#ifndef SHUNT_TOOL_DRAW_H
#define SHUNT_TOOL_DRAW_H

#include <math.h>
#include <stdint.h>

static inline uint64_t next_random(uint64_t *state) /* splitmix64 */
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline double uniform(uint64_t *state) /* in (0, 1) */
{
  return ((double)(next_random(state) >> 12) + 0.5) * 0x1p-52;
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
