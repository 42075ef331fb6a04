// exp2.cuh: 2^x by ex2.approx, the one wrapper and nothing else.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#floating-point-instructions-ex2
#pragma once

namespace shunt
{
namespace ptx
{

// What exp2f(x) gives, but 0 where that is below 2^-126.
__device__ __forceinline__ float exp2_or_zero(float x)
{
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

} // namespace ptx
} // namespace shunt
