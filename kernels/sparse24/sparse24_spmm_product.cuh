// sparse24_spmm_product.cuh: products by type, for sparse24_spmm_wgmma.cuh.
#pragma once
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/ptx/wgmma_sparse.cuh"

namespace shunt
{
namespace sparse24
{

// Types of a product: stored, computed with, and summed up by the tensor cores.
template <class S, class C> struct types {
  using stored = S;
  using compute = C;
  static constexpr bool whole_numbers = sizeof(S) == 1;
  using sum = std::conditional_t<whole_numbers, int32_t, float>;
  using out = std::conditional_t<whole_numbers, C, S>; // of C, where it is not f32
};

// d (+)= 64 rows of A, 2:4, times 128 bytes of K of B: as many columns as there are sums of.
template <class T> struct product_of;
template <> struct product_of<__half> {
  template <int BMajor, int Selector>
  static __device__ __forceinline__ void run(float (&d)[64], uint64_t a, uint64_t b,
                                             uint32_t metadata, bool keep)
  {
    ptx::wgmma_sp_m64n128k32_f16<BMajor, Selector>(d, a, b, metadata, keep);
  }
  template <int BMajor, int Selector>
  static __device__ __forceinline__ void run(float (&d)[128], uint64_t a, uint64_t b,
                                             uint32_t metadata, bool keep)
  {
    ptx::wgmma_sp_m64n256k32_f16<BMajor, Selector>(d, a, b, metadata, keep);
  }
};
template <> struct product_of<__nv_bfloat16> {
  template <int BMajor, int Selector>
  static __device__ __forceinline__ void run(float (&d)[64], uint64_t a, uint64_t b,
                                             uint32_t metadata, bool keep)
  {
    ptx::wgmma_sp_m64n128k32_bf16<BMajor, Selector>(d, a, b, metadata, keep);
  }
  template <int BMajor, int Selector>
  static __device__ __forceinline__ void run(float (&d)[128], uint64_t a, uint64_t b,
                                             uint32_t metadata, bool keep)
  {
    ptx::wgmma_sp_m64n256k32_bf16<BMajor, Selector>(d, a, b, metadata, keep);
  }
};

template <> struct product_of<int8_t> {
  template <int BMajor, int Selector>
  static __device__ __forceinline__ void run(int32_t (&d)[64], uint64_t a, uint64_t b,
                                             uint32_t metadata, bool keep)
  {
    ptx::wgmma_sp_m64n128k64_s8(d, a, b, metadata, keep);
  }
  template <int BMajor, int Selector>
  static __device__ __forceinline__ void run(int32_t (&d)[128], uint64_t a, uint64_t b,
                                             uint32_t metadata, bool keep)
  {
    ptx::wgmma_sp_m64n256k64_s8(d, a, b, metadata, keep);
  }
};

} // namespace sparse24
} // namespace shunt
