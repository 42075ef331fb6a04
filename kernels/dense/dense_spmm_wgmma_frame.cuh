// dense_spmm_wgmma_frame.cuh: what the kernels share that multiply a dense copy of A by wgmma and
// prove it in the same launch (dense_spmm_wgmma.cuh, dense_spmm_wide_wgmma.cuh).
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/guard/agreement.cuh"
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/wgmma.cuh"

namespace shunt
{
namespace dense
{

constexpr int kBoxBytes = 64 * 128; // what the copy engine brings at once: 64 rows of 64 values

// d (+)= 64 x 16 of D times 16 x N of B, N by the number of sums.
template <class T> struct product_of;
template <> struct product_of<__half> {
  template <int BMajor>
  static __device__ __forceinline__ void run(float (&d)[32], uint64_t a, uint64_t b, bool keep)
  {
    ptx::wgmma_m64n64k16_f16<BMajor>(d, a, b, keep);
  }
  template <int BMajor>
  static __device__ __forceinline__ void run(float (&d)[64], uint64_t a, uint64_t b, bool keep)
  {
    ptx::wgmma_m64n128k16_f16<BMajor>(d, a, b, keep);
  }
  template <int BMajor>
  static __device__ __forceinline__ void run(float (&d)[128], uint64_t a, uint64_t b, bool keep)
  {
    ptx::wgmma_m64n256k16_f16<BMajor>(d, a, b, keep);
  }
};
template <> struct product_of<__nv_bfloat16> {
  template <int BMajor>
  static __device__ __forceinline__ void run(float (&d)[32], uint64_t a, uint64_t b, bool keep)
  {
    ptx::wgmma_m64n64k16_bf16<BMajor>(d, a, b, keep);
  }
  template <int BMajor>
  static __device__ __forceinline__ void run(float (&d)[64], uint64_t a, uint64_t b, bool keep)
  {
    ptx::wgmma_m64n128k16_bf16<BMajor>(d, a, b, keep);
  }
  template <int BMajor>
  static __device__ __forceinline__ void run(float (&d)[128], uint64_t a, uint64_t b, bool keep)
  {
    ptx::wgmma_m64n256k16_bf16<BMajor>(d, a, b, keep);
  }
};

// d (+)= 64 x 64 of D times 64 columns of K of B, whose operands begin at of_d, of_b.
template <class T, int BMajor, int Sums>
__device__ __forceinline__ void multiply_64(float (&d)[Sums], uint64_t of_d, uint64_t of_b,
                                            bool keep)
{
  constexpr uint32_t eight = 1024, further_d = 32 >> 4, further_b = (BMajor ? 2 * eight : 32) >> 4;
  ptx::wgmma_fence();
#pragma unroll
  for (int j = 0; j < 64 / 16; j++)
    product_of<T>::template run<BMajor>(d, of_d + j * further_d, of_b + j * further_b,
                                        keep || j > 0);
  ptx::wgmma_commit();
}

// A place in the ring, and the parity of its round.
template <class Shape> struct ring_place {
  int slot = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void advance()
  {
    if (++slot == Shape::kStages) slot = 0, parity ^= 1;
  }
};

// By one thread, before a fence: the barriers of the ring's stages.  One thread brings a stage;
// `users` warps tell when they are done with it.
template <class Shape, class State>
__device__ __forceinline__ void prepare_ring(const State &b, int users)
{
  for (int i = 0; i < Shape::kStages; i++) {
    ptx::mbarrier_init(ptx::shared_address(&b.full[i]), 1);
    ptx::mbarrier_init(ptx::shared_address(&b.empty[i]), users);
  }
}

__device__ __forceinline__ void wait_for(const uint64_t &barrier, uint32_t parity)
{
  ptx::mbarrier_wait(ptx::shared_address(&barrier), parity);
}

__device__ __forceinline__ bool is_finite(float x)
{
  return fabsf(x) <= 3.402823466e38f;
}

// The first of a thread's two rows, as wgmma leaves sums: whether an element of C there is not
// finite.
template <class Out, int Columns>
__device__ __forceinline__ bool any_nonfinite(const float (&d)[Columns / 2], float alpha)
{
  bool bad = false;
#pragma unroll
  for (int i = 0; i < Columns / 8; i++)
#pragma unroll
    for (int j = 0; j < 2; j++)
      bad |= !is_finite(widen<float>(narrow<Out>(scale(alpha, d[4 * i + j]))));
  return bad;
}
} // namespace dense
} // namespace shunt
