// cuda_fp16.h: IEEE binary16.  Every operation computes in float (exactly, or rounded so finely
// that a second rounding to 11 bits changes nothing) and rounds to nearest even.
#ifndef SHUNT_EMULATOR_CUDA_FP16_H
#define SHUNT_EMULATOR_CUDA_FP16_H

#include <math.h>
#include <stdint.h>
#include <string.h>

namespace emulator
{

inline float float_of_half(uint16_t h)
{
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  float magnitude;
  if (exponent == 31)
    magnitude = fraction ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = ldexpf((float)fraction, -24);
  else
    magnitude = ldexpf((float)(1024 + fraction), exponent - 25);
  return h & 0x8000 ? -magnitude : magnitude;
}

// float_of_half for all 65536 of them.
inline const float *half_table()
{
  static const float *table = [] {
    float *t = new float[65536];
    for (int i = 0; i < 65536; i++) t[i] = float_of_half((uint16_t)i);
    return t;
  }();
  return table;
}

inline uint16_t half_of_double(double x)
{
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const double magnitude = fabs(x);
  if (isnan(x)) return 0x7fff; // the device's NaN
  if (magnitude >= 65520) return (uint16_t)(sign | 0x7c00);
  int exponent;
  frexp(magnitude, &exponent); // magnitude = f 2^exponent, 1/2 <= f < 1
  if (exponent < -13) exponent = -13;
  const double units = nearbyint(ldexp(magnitude, 11 - exponent)); // of the last place
  const unsigned n = (unsigned)units;                              // 0 .. 2048
  return (uint16_t)(sign | (n < 1024 ? n : ((unsigned)(exponent + 13) << 10) + n));
}

} // namespace emulator

struct alignas(2) __half_raw {
  unsigned short x;
};
struct alignas(2) __half {
  unsigned short x;
  __half() = default;
  __half(__half_raw r) : x(r.x) {}
  __half(float f) : x(emulator::half_of_double(f)) {}
  __half(double d) : x(emulator::half_of_double(d)) {}
  __half(int i) : x(emulator::half_of_double(i)) {}
  operator float() const { return emulator::half_table()[x]; }
};
typedef __half half;
struct alignas(4) __half2 {
  __half x, y;
};
typedef __half2 half2;

inline float __half2float(__half h)
{
  return emulator::half_table()[h.x];
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
