// mma_s8.cuh: mma.sync.m16n8k32 for 8-bit integers, signed or not, with int32 accumulators, which
// wrap; one wrapper for each pair of signs and nothing else.  Needs sm_80.
//
//   D[16 x 8] = A[16 x 32] B[32 x 8] + D        (A "row", B "col")
//
// Who holds what (lane l, g = l / 4, t = l % 4; each 32-bit register of A and B is four bytes, the
// one with the smallest k the lowest):
//
//   A, 16 x 32 (row, k)                B, 32 x 8 (k, column)           D, 16 x 8 (row, column)
//   a[0] = (g,     4t .. 4t + 3)       b[0] = (4t .. 4t + 3, g)        d[0] = (g,     2t)
//   a[1] = (g + 8, 4t .. 4t + 3)       b[1] = (4t + 16 .. + 19, g)     d[1] = (g,     2t + 1)
//   a[2] = (g,     4t + 16 .. + 19)                                    d[2] = (g + 8, 2t)
//   a[3] = (g + 8, 4t + 16 .. + 19)                                    d[3] = (g + 8, 2t + 1)
//
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-fragment-mma-16832
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

#define SHUNT_MMA_M16N8K32(a_type, b_type)                                                         \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." a_type "." b_type ".s32 "                           \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                            \
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                             \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

// A's bytes are signed, or not; B's, too.
template <bool SignedA, bool SignedB>
__device__ __forceinline__ void mma_m16n8k32(int32_t (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2])
{
  if constexpr (SignedA && SignedB)
    SHUNT_MMA_M16N8K32("s8", "s8");
  else if constexpr (SignedA)
    SHUNT_MMA_M16N8K32("s8", "u8");
  else if constexpr (SignedB)
    SHUNT_MMA_M16N8K32("u8", "s8");
  else
    SHUNT_MMA_M16N8K32("u8", "u8");
}

#undef SHUNT_MMA_M16N8K32

} // namespace ptx
} // namespace shunt
