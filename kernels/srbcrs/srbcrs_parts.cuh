// srbcrs_parts.cuh: integers of 16, 12 and 4 bits as the bytes that the mma multiplies.
//
// One of 16 or 12 bits is two parts, x = 256 high + low, high signed and low not; a product of two such
// is summed in three accumulators, by the weight of what they hold:
//
//     x y = 65536 high high + 256 (high low + low high) + low low
//
// modulo 2^32, so that sums of parts may wrap, too.  Eight- and four-bit integers are one signed
// part.  A 4-bit integer becomes a byte: its nibble, with the sign bit spread over the upper half.
// Of unsigned integers the high, or only, part is unsigned; nibbles stay as they are.
#pragma once
#include <stdint.h>

#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mma_s8.cuh"

namespace shunt
{
namespace srbcrs
{

// Parts of an integer, and accumulators for products of A's and B's parts.
template <int Bits> constexpr int parts_of = Bits > 8 ? 2 : 1;
template <int BitsA, int BitsB> constexpr int weights_of = parts_of<BitsA> + parts_of<BitsB> - 1;

// The low, or the high, bytes of the four 16-bit integers in two words.
template <int Part> __device__ __forceinline__ uint32_t bytes_of_16(uint32_t w0, uint32_t w1)
{
  return ptx::permute_bytes(w0, w1, Part == 0 ? 0x6420 : 0x7531);
}

// Where nibbles have their signs: nowhere, if they are unsigned.
constexpr uint32_t kNibbleSigns = 0x08080808u;
__device__ __forceinline__ uint32_t nibble_signs(bool is_unsigned)
{
  return is_unsigned ? 0 : kNibbleSigns;
}
// Four low nibbles, those of each byte, as signed bytes.
__device__ __forceinline__ uint32_t bytes_of_low_nibbles(uint32_t w, uint32_t signs = kNibbleSigns)
{
  const uint32_t x = w & 0x0f0f0f0fu;
  return x | (x & signs) * 30; // 8 x 30 = 0xf0
}
// Four high ones.
__device__ __forceinline__ uint32_t bytes_of_high_nibbles(uint32_t w, uint32_t signs = kNibbleSigns)
{
  return bytes_of_low_nibbles(w >> 4, signs);
}

// d += a b for part PartA of integers that have PartsA, and so B: the last part is signed if its
// integers are.
template <int PartA, int PartsA, int PartB, int PartsB, bool SignedA, bool SignedB>
__device__ __forceinline__ void mma_of_parts(int (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2])
{
  ptx::mma_m16n8k32<PartA == PartsA - 1 && SignedA, PartB == PartsB - 1 && SignedB>(d, a, b);
}

// The sum that accumulators d[0], d[1], .. of weights 1, 256, .. stand for.
template <int Weights> __device__ __forceinline__ int weighed(const int (&d)[Weights])
{
  uint32_t sum = 0;
#pragma unroll
  for (int w = 0; w < Weights; w++) sum += static_cast<uint32_t>(d[w]) << 8 * w;
  return static_cast<int>(sum);
}

} // namespace srbcrs
} // namespace shunt
