/* host_half.h: binary16 and bfloat16 to and from float, by bits, in plain C.

     binary16   s eeeee mmmmmmmmmm          bias 15
     bfloat16   s eeeeeeee mmmmmmm          bias 127: the upper half of a float
     float      s eeeeeeee mmmmmmm mmmmmmmmmmmmmmmm

   Widening is exact.  Narrowing rounds to nearest, ties to even, overflows to
   infinity, keeps subnormals, and keeps a NaN a NaN (quiet).  */
#ifndef SHUNT_HOST_HALF_H
#define SHUNT_HOST_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t shunt_float_bits(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static inline float shunt_bits_float(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static inline float shunt_half_to_float(uint16_t h)
{
  uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
  uint32_t exponent = (h >> 10) & 31u;
  uint32_t mantissa = h & 0x3ffu;

  if (exponent == 31) /* Inf, NaN */
    return shunt_bits_float(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) { /* zero, subnormal: mantissa * 2^-24 */
    float x = (float)mantissa * 0x1p-24f;
    return sign ? -x : x;
  }
  return shunt_bits_float(sign | (exponent + 112) << 23 | mantissa << 13);
}

static inline uint16_t shunt_float_to_half(float x)
{
  uint32_t u = shunt_float_bits(x);
  uint16_t sign = (uint16_t)(u >> 16 & 0x8000u);

  u &= 0x7fffffffu;
  if (u > 0x7f800000u) /* NaN: keep the upper payload, make it quiet */
    return (uint16_t)(sign | 0x7e00u | (u >> 13 & 0x3ffu));
  if (u >= 0x477ff000u) /* 65520 and above round to infinity */
    return (uint16_t)(sign | 0x7c00u);
  if (u < 0x38800000u) {
    /* Below 2^-14 the result counts in steps of 2^-24.  Added to 0.5, whose
       last bit stands for just that, the float unit does the rounding.  */
    uint32_t v = shunt_float_bits(shunt_bits_float(u) + 0.5f);
    return (uint16_t)(sign | (v - 0x3f000000u));
  }
  u += 0xfffu + (u >> 13 & 1u);
  return (uint16_t)(sign | ((u - 0x38000000u) >> 13));
}

static inline float shunt_bfloat_to_float(uint16_t b)
{
  return shunt_bits_float((uint32_t)b << 16);
}

static inline uint16_t shunt_float_to_bfloat(float x)
{
  uint32_t u = shunt_float_bits(x);

  if ((u & 0x7fffffffu) > 0x7f800000u) /* NaN */
    return (uint16_t)(u >> 16 | 0x40u);
  u += 0x7fffu + (u >> 16 & 1u);
  return (uint16_t)(u >> 16);
}

#endif
