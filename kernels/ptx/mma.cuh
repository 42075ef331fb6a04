// mma.cuh: mma.sync.m16n8k16 for f16 and bf16 with f32 accumulators, one wrapper
// per instruction and nothing else.  Needs sm_80.
//
//   D[16 x 8] = A[16 x 16] B[16 x 8] + D        (A "row", B "col")
//
// Who holds what (lane l, g = l / 4, t = l % 4; each 32-bit register of A and B is
// two 16-bit elements, the one with the smaller k in the low half):
//
//   A, 16 x 16 (row, k)             B, 16 x 8 (k, column)      D, 16 x 8 (row, column)
//   a[0] = (g,     2t), (g,     2t+1)    b[0] = (2t, g), (2t+1, g)    d[0] = (g,     2t)
//   a[1] = (g + 8, 2t), (g + 8, 2t+1)    b[1] = (2t+8, g), (2t+9, g)  d[1] = (g,     2t + 1)
//   a[2] = (g,   2t+8), (g,   2t+9)                                   d[2] = (g + 8, 2t)
//   a[3] = (g+8, 2t+8), (g+8, 2t+9)                                   d[3] = (g + 8, 2t + 1)
//
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-fragment-mma-16816-float
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2])
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4],
                                                  const uint32_t (&b)[2])
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

} // namespace ptx
} // namespace shunt
