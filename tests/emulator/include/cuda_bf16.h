// cuda_bf16.h: bfloat16, the upper half of a float.  As cuda_fp16.h.
#ifndef SHUNT_EMULATOR_CUDA_BF16_H
#define SHUNT_EMULATOR_CUDA_BF16_H

#include <math.h>
#include <stdint.h>

#include "bits_as.h"

namespace emulator
{

inline float float_of_bfloat16(uint16_t b)
{
  return bits_as<float>((uint32_t)b << 16);
}
inline uint16_t bfloat16_of_float(float f)
{
  if (isnan(f)) return 0x7fff; // the device's NaN
  const uint32_t bits = bits_as<uint32_t>(f);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace emulator

struct alignas(2) __nv_bfloat16 {
  unsigned short x;
  __nv_bfloat16() = default;
  __nv_bfloat16(float f) : x(emulator::bfloat16_of_float(f)) {}
  operator float() const { return emulator::float_of_bfloat16(x); }
};
typedef __nv_bfloat16 nv_bfloat16;
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;

inline float __bfloat162float(__nv_bfloat16 b)
{
  return b;
}
inline __nv_bfloat16 __float2bfloat16_rn(float f)
{
  return __nv_bfloat16(f);
}
inline __nv_bfloat16 __float2bfloat16(float f)
{
  return __nv_bfloat16(f);
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 b)
{
  return b.x;
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x)
{
  __nv_bfloat16 b;
  b.x = x;
  return b;
}
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b)
{
  return {a, b};
}
inline float __low2float(__nv_bfloat162 a)
{
  return a.x;
}
inline float __high2float(__nv_bfloat162 a)
{
  return a.y;
}

#endif
