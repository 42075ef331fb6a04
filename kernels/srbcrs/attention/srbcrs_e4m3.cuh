// srbcrs_e4m3.cuh: numbers of e4m3 by plain integer operations, on any device:
//
//   | sign | exponent, 4 bits | mantissa, 3 |    1.m 2^(e - 7);  e = 0: 0.m 2^-6;  0x7f: no number
//
// With its bits moved to f16's places a number is an f16 of 2^-8 times its value, exactly.
#pragma once
#include <stdint.h>

#include "kernels/ptx/ldst.cuh"

namespace shunt
{
namespace srbcrs
{

constexpr float kMostE4m3 = 448.0f;
constexpr float kOfHalves = 256.0f; // what the f16s below have to be multiplied by

// x / scale, bounded by -448 and 448, rounded to the nearest, ties to even; 0 for a NaN, and where
// scale is 0.
__device__ __forceinline__ uint8_t e4m3_of(float x, float scale)
{
  const float y = __fdiv_rn(x, scale), a = fminf(fabsf(y), kMostE4m3);
  if (!(scale > 0) || y != y) return 0;
  uint32_t bits = __float_as_uint(a);
  const uint32_t small = static_cast<uint32_t>(rintf(a * 512.0f));
  bits = ((bits + 0x7ffff + (bits >> 20 & 1)) >> 20) - (120 << 3);
  return static_cast<uint8_t>((a < 0.015625f ? small : bits) | (y < 0 ? 0x80 : 0));
}

// Byte I of two words, as two f16 side by side.
template <int I> __device__ __forceinline__ uint32_t halves_of_e4m3(uint32_t low, uint32_t high)
{
  const uint32_t x = ptx::permute_bytes(low, high, (4 + I) << 12 | I << 4); // each a high byte
  return (x & 0x80008000u) | (x >> 1 & 0x3f803f80u);
}

} // namespace srbcrs
} // namespace shunt
