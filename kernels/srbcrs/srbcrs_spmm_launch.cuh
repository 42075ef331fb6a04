// srbcrs_spmm_launch.cuh: which shapes of SpMM over strides there are, and their launch.
#pragma once
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "kernels/srbcrs/srbcrs_spmm.cuh"

namespace shunt
{
namespace srbcrs
{

// A lane's share of a row of B, 1/8 of `columns`, is 4, 8 or 16 bytes, in whole sets of four columns
// (eight of 4 bits).  16 bytes of 4 bits would be 64 sums for each row: those it has not.
inline bool is_shape(const struct shunt_srbcrs_shape *s, int bits_b)
{
  const int most = bits_b == 16 ? 64 : 128, least = bits_b == 4 ? 64 : 32;
  return (s->columns == 32 || s->columns == 64 || s->columns == 128) && s->columns <= most &&
         s->columns >= least && (s->split == 1 || s->split == kWarps);
}

template <class Store, int BitsA, int BitsB, int X, int Split>
static cudaError_t launch(const arguments<Store> &k, cudaStream_t stream)
{
  const int64_t units = k.v.groups * static_cast<int64_t>((k.n + 8 * X - 1) / (8 * X));
  const int64_t blocks = (units + kWarps / Split - 1) / (kWarps / Split);
  if (blocks > INT32_MAX) return cudaErrorNotSupported;
  spmm_strides<Store, BitsA, BitsB, X, Split>
      <<<static_cast<unsigned>(blocks), kWarps * 32, 0, stream>>>(k);
  return cudaGetLastError();
}

template <class Store, int BitsA, int BitsB, int X>
static cudaError_t launch_split(const arguments<Store> &k, int split, cudaStream_t stream)
{
  return split == 1 ? launch<Store, BitsA, BitsB, X, 1>(k, stream)
                    : launch<Store, BitsA, BitsB, X, kWarps>(k, stream);
}

// s is a shape.
template <class Store, int BitsA, int BitsB>
static shunt_status launch_shape(const arguments<Store> &k, const struct shunt_srbcrs_shape *s,
                                 cudaStream_t stream)
{
  cudaError_t e = cudaErrorNotSupported;
  if constexpr (BitsB != 4)
    if (s->columns == 32) e = launch_split<Store, BitsA, BitsB, 4>(k, s->split, stream);
  if (s->columns == 64) e = launch_split<Store, BitsA, BitsB, 8>(k, s->split, stream);
  if constexpr (BitsB != 16)
    if (s->columns == 128) e = launch_split<Store, BitsA, BitsB, 16>(k, s->split, stream);
  return e == cudaSuccess             ? SHUNT_OK
         : e == cudaErrorNotSupported ? SHUNT_E_UNSUPPORTED
                                      : SHUNT_E_CUDA;
}

} // namespace srbcrs
} // namespace shunt
