// masked_warp.cuh: sums over the lanes of a warp.
#pragma once

namespace shunt
{
namespace masked
{

// The sum of what the warp's lanes up to this one have.
__device__ __forceinline__ int sum_up_to(int n)
{
  const int lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, n, step);
    if (lane >= step) n += below;
  }
  return n;
}

} // namespace masked
} // namespace shunt
