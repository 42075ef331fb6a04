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
         s->columns >= least && (s->split == 1 || s->split == kWarps) && s->groups == 0;
}

template <class Store, int BitsA, int BitsB, int X, int Split, bool SignedA>
static shunt_status launch(const arguments<Store> &k, const struct shunt_device *d,
                           cudaStream_t stream)
{
  const int64_t units = k.v.groups * static_cast<int64_t>((k.n + 8 * X - 1) / (8 * X));
  const int64_t blocks = (units + kWarps / Split - 1) / (kWarps / Split);
  const dim3 grid(static_cast<unsigned>(blocks), k.store.problems()), block(kWarps * 32);
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  if constexpr (Store::kEarly) {
    return launch_early(spmm_strides<Store, BitsA, BitsB, X, Split, SignedA>, grid, block, d,
                        stream, k);
  } else {
    spmm_strides<Store, BitsA, BitsB, X, Split, SignedA><<<grid, block, 0, stream>>>(k);
    return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
  }
}

template <class Store, int BitsA, int BitsB, int X, bool SignedA>
static shunt_status launch_split(const arguments<Store> &k, int split, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  return split == 1 ? launch<Store, BitsA, BitsB, X, 1, SignedA>(k, d, stream)
                    : launch<Store, BitsA, BitsB, X, kWarps, SignedA>(k, d, stream);
}

// s is a shape.
template <class Store, int BitsA, int BitsB, bool SignedA = true>
static shunt_status launch_shape(const arguments<Store> &k, const struct shunt_srbcrs_shape *s,
                                 const struct shunt_device *d, cudaStream_t stream)
{
  if constexpr (BitsB != 4)
    if (s->columns == 32)
      return launch_split<Store, BitsA, BitsB, 4, SignedA>(k, s->split, d, stream);
  if (s->columns == 64)
    return launch_split<Store, BitsA, BitsB, 8, SignedA>(k, s->split, d, stream);
  if constexpr (BitsB != 16)
    if (s->columns == 128)
      return launch_split<Store, BitsA, BitsB, 16, SignedA>(k, s->split, d, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace srbcrs
} // namespace shunt
