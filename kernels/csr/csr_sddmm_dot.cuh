// csr_sddmm_dot.cuh: the product of what a lane has of a row of A and of a column of B.
#pragma once
#include <string.h>

#include "kernels/csr/csr_sddmm_common.cuh"

namespace shunt
{
namespace csr::sddmm
{

// N neighbouring elements of A, kept for several columns of B: in the type of the sums.
template <class T, int N> struct kept {
  using C = compute_t<T>;
  C at[N];

  kept() = default;
  __device__ __forceinline__ explicit kept(const vec<T, N> &x)
  {
#pragma unroll
    for (int e = 0; e < N; e++) at[e] = widen<C>(x.at[e]);
  }
  __device__ __forceinline__ C dot(const vec<T, N> &y, C sum) const
  {
#pragma unroll
    for (int e = 0; e < N; e++) sum = multiply_add(at[e], widen<C>(y.at[e]), sum);
    return sum;
  }
};

// Of int8 as they come, four a word, which one instruction multiplies and adds up; sums wrap.
template <> struct kept<int8_t, 16> {
  int at[4];

  kept() = default;
  __device__ __forceinline__ explicit kept(const vec<int8_t, 16> &x) { memcpy(at, &x, sizeof at); }
  __device__ __forceinline__ int32_t dot(const vec<int8_t, 16> &y, int32_t sum) const
  {
    int with[4];
    memcpy(with, &y, sizeof with);
#pragma unroll
    for (int i = 0; i < 4; i++) sum = __dp4a(at[i], with[i], sum);
    return sum;
  }
};

} // namespace csr::sddmm
} // namespace shunt
