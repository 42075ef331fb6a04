// tile_spmm_launch.cuh: the launches of spmm_tile and spmm_blocked for one stored
// type; instantiated in one file per type.
#pragma once
#include "kernels/tile/tile_kernels.h"
#include "kernels/tile/tile_spmm.cuh"
#include "kernels/tile/tile_spmm_blocked.cuh"
#include "kernels/tile/tile_spmm_gather.cuh"

namespace shunt
{
namespace tile
{

template <class T, class Out, int Tile>
inline cudaError_t launch_direct(const arguments &p, cudaStream_t stream)
{
  const dim3 grid((p.blocks + kWarps - 1) / kWarps, (p.n + Tile - 1) / Tile);
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(&spmm_tile<T, Out, Tile>), grid,
                          dim3(kThreads), parameters, 0, stream);
}

template <class T, class Out, class Shape>
inline cudaError_t launch_blocked(const arguments &p, const CUtensorMap &map, cudaStream_t stream)
{
  const void *kernel = reinterpret_cast<const void *>(&spmm_blocked<T, Out, Shape>);
  // Kept by the context, which the program may destroy: so asked for each time.
  cudaError_t e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kBytes);
  if (e != cudaSuccess) return e;
  const int tall = (p.rows + Shape::kRows - 1) / Shape::kRows;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = p.split;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(tall * p.split, (p.n + Shape::kTile - 1) / Shape::kTile);
  config.blockDim = dim3(Shape::kThreads);
  config.dynamicSmemBytes = Shape::kBytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  void *parameters[] = {const_cast<arguments *>(&p), const_cast<CUtensorMap *>(&map)};
  return cudaLaunchKernelExC(&config, kernel, parameters);
}

template <class T, class Out, int Split>
inline cudaError_t launch_gather(const arguments &p, cudaStream_t stream)
{
  constexpr int kWarps = gather_warps(Split), kUnits = kWarps / Split; // of a block
  constexpr int kBytes = gather_bytes(Split);
  const void *kernel = reinterpret_cast<const void *>(&spmm_gather<T, Out, Split>);
  const cudaError_t e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (e != cudaSuccess) return e;
  const int64_t wide = (p.n + kGatherTile - 1) / kGatherTile;
  const dim3 grid(static_cast<unsigned>((p.blocks * wide + kUnits - 1) / kUnits));
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(kernel, grid, dim3(kWarps * 32), parameters, kBytes, stream);
}

template <class T, class Out>
inline cudaError_t launch_shape(const arguments &p, const struct shunt_tile_shape &s,
                                const CUtensorMap &map, cudaStream_t stream)
{
  if (s.rows == 0)
    return s.tile == 128 ? launch_direct<T, Out, 128>(p, stream)
                         : launch_direct<T, Out, 64>(p, stream);
  if (s.rows == kRows)
    return s.split == 1   ? launch_gather<T, Out, 1>(p, stream)
           : s.split == 2 ? launch_gather<T, Out, 2>(p, stream)
           : s.split == 4 ? launch_gather<T, Out, 4>(p, stream)
                          : launch_gather<T, Out, 8>(p, stream);
  if (s.rows == 64) return launch_blocked<T, Out, blocked_64x64>(p, map, stream);
  return s.tile == 128 ? launch_blocked<T, Out, blocked_128x128>(p, map, stream)
                       : launch_blocked<T, Out, blocked_128x64>(p, map, stream);
}

// For the gathered kernels: checks, chooses the split, and copies B where it cannot be read in
// place.
shunt_status prepare_gather(const struct shunt_spmm *p, const struct shunt_tile *v,
                            const struct shunt_device *d, void *workspace, size_t workspace_bytes,
                            shunt_stream stream, arguments *k);

cudaError_t launch_f16(const arguments &p, const struct shunt_tile_shape &s, const CUtensorMap &map,
                       shunt_type out, cudaStream_t stream);
cudaError_t launch_bf16(const arguments &p, const struct shunt_tile_shape &s,
                        const CUtensorMap &map, shunt_type out, cudaStream_t stream);

} // namespace tile
} // namespace shunt
