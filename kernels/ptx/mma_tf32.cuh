// mma_tf32.cuh: mma.sync.m16n8k8 for TF32 with f32 accumulators: the wrapper and nothing
// else.  Needs sm_80.
//
//   D[16 x 8] = A[16 x 8] B[8 x 8] + D        (A "row", B "col")
//
// Elements are f32 whose lower 13 bits the instruction does not look at.  Who holds what (lane l,
// g = l / 4, t = l % 4):
//
//   A (row, k)              B (k, column)         D (row, column)
//   a[0] = (g,     t)       b[0] = (t,     g)     d[0] = (g,     2t)
//   a[1] = (g + 8, t)       b[1] = (t + 4, g)     d[1] = (g,     2t + 1)
//   a[2] = (g,     t + 4)                         d[2] = (g + 8, 2t)
//   a[3] = (g + 8, t + 4)                         d[3] = (g + 8, 2t + 1)
//
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-fragment-mma-1688
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2])
{
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

} // namespace ptx
} // namespace shunt
