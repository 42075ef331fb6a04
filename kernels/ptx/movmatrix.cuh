// movmatrix.cuh: movmatrix, the transpose of an 8 x 8 matrix held by a warp; the one wrapper and
// nothing else.  Needs sm_75.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-movmatrix
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// 8 x 8 16-bit elements.  Lane l, g = l / 4, t = l % 4, brings elements (g, 2t), the low half,
// and (g, 2t + 1); it gets those of the transpose, which are (2t, g) and (2t + 1, g).
__device__ __forceinline__ uint32_t movmatrix_trans(uint32_t a)
{
  uint32_t v;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(v) : "r"(a));
  return v;
}

} // namespace ptx
} // namespace shunt
