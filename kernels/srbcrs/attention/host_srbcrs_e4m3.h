/* host_srbcrs_e4m3.h: numbers of e4m3 on the host, the twin of srbcrs_e4m3.cuh. */
#ifndef SHUNT_HOST_SRBCRS_E4M3_H
#define SHUNT_HOST_SRBCRS_E4M3_H

#include <math.h>
#include <stdint.h>

static inline double shunt_e4m3_value(uint8_t bits)
{
  const int e = bits >> 3 & 15, m = bits & 7;
  const double a = e ? ldexp(8 + m, e - 10) : ldexp(m, -9);
  return bits & 0x80 ? -a : a;
}

/* The nearest of all there are; of two the even one. */
static inline uint8_t shunt_e4m3_of(float x, float scale)
{
  const double y = (double)(x / scale), a = fmin(fabs(y), 448);
  uint8_t best = 0;
  if (!(scale > 0) || isnan(y)) return 0;
  for (uint8_t b = 1; b < 0x7f; b++) {
    const double here = fabs(shunt_e4m3_value(b) - a), there = fabs(shunt_e4m3_value(best) - a);
    if (here < there || (here == there && b % 2 == 0)) best = b;
  }
  return y < 0 ? best | 0x80 : best;
}

#endif
