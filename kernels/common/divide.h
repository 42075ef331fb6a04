/* divide.h: division that rounds up.  Private to kernels/ and conv/. */
#ifndef SHUNT_KERNELS_DIVIDE_H
#define SHUNT_KERNELS_DIVIDE_H

#include <stdint.h>

/* The least k with k b >= a; a >= 0, b > 0. */
static inline int64_t shunt_div_up(int64_t a, int64_t b)
{
  return (a + b - 1) / b;
}

#endif
