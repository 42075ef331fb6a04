// fingerprint_parts.cuh: the sum of a fingerprint's parts, for kernels that judge by it.
#pragma once
#include "kernels/fingerprint.h"

namespace shunt {

// The sum of parts[0 .. count), the same in all threads of a one-dimensional block of
// whole warps.
__device__ __forceinline__ struct shunt_fingerprint sum_parts(const struct shunt_fingerprint *parts,
                                                              int count)
{
  __shared__ struct shunt_fingerprint of_warp[32];
  struct shunt_fingerprint f = { 0, 0 };
  for (int i = threadIdx.x; i < count; i += blockDim.x) shunt_fp_add(&f, parts[i]);
  for (int step = 16; step > 0; step /= 2) {
    f.lo += __shfl_down_sync(0xffffffffu, f.lo, step);
    f.hi += __shfl_down_sync(0xffffffffu, f.hi, step);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = f;
  __syncthreads();
  f = of_warp[0];
  for (int w = 1; w < (int)blockDim.x / 32; w++) shunt_fp_add(&f, of_warp[w]);
  __syncthreads();
  return f;
}

}  // namespace shunt
