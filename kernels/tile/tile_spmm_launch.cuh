// tile_spmm_launch.cuh: the launch of spmm_gather for one stored type; instantiated in one file per
// type for dense tiles, and in another for those that may be 2:4.
#pragma once
#include "kernels/common/allow_shared.h"
#include "kernels/tile/tile_kernels.h"
#include "kernels/tile/tile_spmm_gather.cuh"
#include "kernels/tile/tile_spmm_operands.cuh"

namespace shunt
{
namespace tile
{

template <class T, class Out, bool Sparse, int Split>
inline cudaError_t launch_split(const arguments &p, cudaStream_t stream)
{
  constexpr int kWarps = gather_warps(Split), kUnits = kWarps / Split; // of a block
  constexpr int kBytes = gather_bytes(Split);
  constexpr auto kernel = &spmm_gather<T, Out, Sparse, Split>;
  const cudaError_t e = allow_shared<kernel>(kBytes);
  if (e != cudaSuccess) return e;
  const int64_t wide = (p.n + kGatherTile - 1) / kGatherTile;
  const dim3 grid(static_cast<unsigned>((p.blocks * wide + kUnits - 1) / kUnits));
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, dim3(kWarps * 32),
                          parameters, kBytes, stream);
}

// By p.split warps a unit.
template <class T, class Out, bool Sparse>
inline cudaError_t launch_gather(const arguments &p, cudaStream_t stream)
{
  switch (p.split) {
  case 1: return launch_split<T, Out, Sparse, 1>(p, stream);
  case 2: return launch_split<T, Out, Sparse, 2>(p, stream);
  case 4: return launch_split<T, Out, Sparse, 4>(p, stream);
  default: return launch_split<T, Out, Sparse, 8>(p, stream);
  }
}

inline bool gather_fits(int split, const struct shunt_tile *v, const struct shunt_device *d)
{
  return v->sparse.gather && (split == 1 || split == 2 || split == 4 || split == 8) &&
         gather_bytes(split) <= d->shared_per_block;
}

// For gathered tiles that are all dense: checks, copies B where it cannot be read in place, and
// fills *k.
shunt_status prepare(const struct shunt_spmm *p, const struct shunt_tile *v, int split,
                     const struct shunt_device *d, void *workspace, size_t workspace_bytes,
                     shunt_stream stream, arguments *k);

cudaError_t launch_f16(const arguments &p, shunt_type out, cudaStream_t stream);
cudaError_t launch_bf16(const arguments &p, shunt_type out, cudaStream_t stream);

} // namespace tile
} // namespace shunt
