// cuda_fp16.h: IEEE binary16.  Every operation computes in float (exactly, or rounded so finely
// that a second rounding to 11 bits changes nothing) and rounds to nearest even.
#ifndef SHUNT_EMULATOR_CUDA_FP16_H
#define SHUNT_EMULATOR_CUDA_FP16_H

#include <math.h>
#include <stdint.h>

#include "bits_as.h"

namespace emulator
{

// Its bits in float's places, where its exponent is 112 less than a float's would be: also those of
// a subnormal number are then a float's, which the multiplication makes a normal one.
inline float float_of_half(uint16_t h)
{
  if ((h & 0x7c00) == 0x7c00) return h & 1023 ? NAN : h & 0x8000 ? -INFINITY : INFINITY;
  return bits_as<float>((uint32_t)(h & 0x8000) << 16 | (uint32_t)(h & 0x7fff) << 13) * 0x1p112f;
}

// To nearest even by what is added below the last place, the carry of which may raise the exponent;
// a subnormal number is added to one whose last place is 2^-24.
inline uint16_t half_of_float(float x)
{
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const uint32_t bits = bits_as<uint32_t>(x) & 0x7fffffff;
  if (isnan(x)) return 0x7fff; // the device's NaN
  if (bits >= bits_as<uint32_t>(65520.0f)) return (uint16_t)(sign | 0x7c00);
  if (bits < bits_as<uint32_t>(0x1p-14f))
    return (uint16_t)(sign | (bits_as<uint32_t>(fabsf(x) + 0.5f) - bits_as<uint32_t>(0.5f)));
  return (uint16_t)(sign | (((bits + 0xfff + (bits >> 13 & 1)) >> 13) - (112 << 10)));
}
inline uint16_t half_of_double(double x)
{
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const uint64_t bits = bits_as<uint64_t>(fabs(x)), below = (UINT64_C(1) << 41) - 1;
  if (isnan(x)) return 0x7fff;
  if (bits >= bits_as<uint64_t>(65520.0)) return (uint16_t)(sign | 0x7c00);
  if (bits < bits_as<uint64_t>(0x1p-14))
    return (uint16_t)(sign | (bits_as<uint64_t>(fabs(x) + 0x1p28) - bits_as<uint64_t>(0x1p28)));
  return (uint16_t)(sign | (((bits + below + (bits >> 42 & 1)) >> 42) - (1008 << 10)));
}

} // namespace emulator

struct alignas(2) __half_raw {
  unsigned short x;
};
struct alignas(2) __half {
  unsigned short x;
  __half() = default;
  __half(__half_raw r) : x(r.x) {}
  __half(float f) : x(emulator::half_of_float(f)) {}
  __half(double d) : x(emulator::half_of_double(d)) {}
  __half(int i) : x(emulator::half_of_double(i)) {}
  operator float() const { return emulator::float_of_half(x); }
};
typedef __half half;
struct alignas(4) __half2 {
  __half x, y;
};
typedef __half2 half2;

inline float __half2float(__half h)
{
  return emulator::float_of_half(h.x);
}
inline __half __float2half_rn(float f)
{
  return __half(f);
}
inline __half __float2half(float f)
{
  return __half(f);
}
inline __half __double2half(double d)
{
  return __half(d);
}
inline unsigned short __half_as_ushort(__half h)
{
  return h.x;
}
inline __half __ushort_as_half(unsigned short x)
{
  __half h;
  h.x = x;
  return h;
}
inline __half2 __halves2half2(__half a, __half b)
{
  return {a, b};
}
inline __half2 __float2half2_rn(float f)
{
  return {__half(f), __half(f)};
}
inline __half2 __floats2half2_rn(float a, float b)
{
  return {__half(a), __half(b)};
}
inline __half2 __half2half2(__half a)
{
  return {a, a};
}
inline float __low2float(__half2 a)
{
  return a.x;
}
inline float __high2float(__half2 a)
{
  return a.y;
}
inline __half __low2half(__half2 a)
{
  return a.x;
}
inline __half __high2half(__half2 a)
{
  return a.y;
}
inline __half __hadd(__half a, __half b)
{
  return (float)a + (float)b;
}
inline __half __hsub(__half a, __half b)
{
  return (float)a - (float)b;
}
inline __half __hmul(__half a, __half b)
{
  return (float)a * (float)b;
}
inline __half __hfma(__half a, __half b, __half c)
{
  return (double)(float)a * (float)b + (double)(float)c;
}
inline __half2 __hadd2(__half2 a, __half2 b)
{
  return {__hadd(a.x, b.x), __hadd(a.y, b.y)};
}
inline __half2 __hmul2(__half2 a, __half2 b)
{
  return {__hmul(a.x, b.x), __hmul(a.y, b.y)};
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#ifdef SHUNT_EMULATOR_VECTOR_TYPES_H
inline float2 __half22float2(__half2 a)
{
  return {(float)a.x, (float)a.y};
}
inline __half2 __float22half2_rn(float2 a)
{
  return {__half(a.x), __half(a.y)};
}
#endif

#endif
