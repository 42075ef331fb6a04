// tile_mixed_spmm_launch.cuh: the launches of spmm_tile, spmm_blocked and spmm_gather for one
// stored type and tiles of any kind; instantiated in one file per type.
#pragma once
#include "kernels/tile/tile_mixed_kernels.h"
#include "kernels/tile/tile_mixed_spmm.cuh"
#include "kernels/tile/tile_mixed_spmm_blocked.cuh"
#include "kernels/tile/tile_spmm_launch.cuh"

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

template <class T, class Out>
inline cudaError_t launch_shape(const arguments &p, const struct shunt_tile_shape &s,
                                const CUtensorMap &map, cudaStream_t stream)
{
  if (s.rows == 0)
    return s.tile == 128 ? launch_direct<T, Out, 128>(p, stream)
                         : launch_direct<T, Out, 64>(p, stream);
  if (s.rows == kRows) return launch_gather<T, Out, true>(p, stream);
  if (s.rows == 64) return launch_blocked<T, Out, blocked_64x64>(p, map, stream);
  return s.tile == 128 ? launch_blocked<T, Out, blocked_128x128>(p, map, stream)
                       : launch_blocked<T, Out, blocked_128x64>(p, map, stream);
}

cudaError_t launch_mixed_f16(const arguments &p, const struct shunt_tile_shape &s,
                             const CUtensorMap &map, shunt_type out, cudaStream_t stream);
cudaError_t launch_mixed_bf16(const arguments &p, const struct shunt_tile_shape &s,
                              const CUtensorMap &map, shunt_type out, cudaStream_t stream);

} // namespace tile
} // namespace shunt
