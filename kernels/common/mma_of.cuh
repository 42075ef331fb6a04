// mma_of.cuh: the matrix instruction of an element type: mma_of<T>::run is mma.m16n8k16 for
// T = __half or __nv_bfloat16 (fragments: kernels/ptx/mma.cuh).
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/ptx/mma.cuh"

namespace shunt
{

template <class T> struct mma_of;
template <> struct mma_of<__half> {
  static __device__ __forceinline__ void run(float (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2])
  {
    ptx::mma_m16n8k16_f16(d, a, b);
  }
};
template <> struct mma_of<__nv_bfloat16> {
  static __device__ __forceinline__ void run(float (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[2])
  {
    ptx::mma_m16n8k16_bf16(d, a, b);
  }
};

} // namespace shunt
