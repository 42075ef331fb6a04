// spmm_vector_launch.cuh: the launches of spmm_vector_direct and spmm_vector_strips for
// one stored type; instantiated in one file per type.
#pragma once
#include <algorithm>

#include "kernels/spmm_vector.h"
#include "kernels/spmm_vector_direct.cuh"
#include "kernels/spmm_vector_proved.cuh"
#include "kernels/spmm_vector_strips.cuh"

namespace shunt
{
namespace vector
{

template <class T, class Out, class Shape> constexpr auto direct_kernel()
{
  if constexpr (Shape::kGroups == 2)
    return &spmm_vector_pairs<T, Out, Shape>;
  else
    return &spmm_vector_direct<T, Out, Shape>;
}

template <class T, class Out, class Shape>
inline cudaError_t launch_direct(const arguments &p, cudaStream_t stream)
{
  const void *kernel = reinterpret_cast<const void *>(direct_kernel<T, Out, Shape>());
  // Kept by the context, which the program may destroy: so asked for each time.
  cudaError_t e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kBytes);
  if (e != cudaSuccess) return e;
  const int groups_a_block = (kDirectWarps >> p.log2_slices) * Shape::kGroups;
  const dim3 grid((p.groups + groups_a_block - 1) / groups_a_block,
                  (p.n + Shape::kTile - 1) / Shape::kTile);
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(kernel, grid, dim3(kDirectWarps * 32), parameters, Shape::kBytes, stream);
}

template <class T, class Out, class Shape>
inline cudaError_t launch_strips(const arguments &p, const CUtensorMap &map, cudaStream_t stream)
{
  const void *kernel = reinterpret_cast<const void *>(&spmm_vector_strips<T, Out, Shape>);
  // Kept by the context, which the program may destroy: so asked for each time.
  cudaError_t e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kBytes);
  if (e != cudaSuccess) return e;
  const dim3 grid((p.rows + Shape::kRows - 1) / Shape::kRows,
                  (p.n + Shape::kTile - 1) / Shape::kTile);
  void *parameters[] = {const_cast<arguments *>(&p), const_cast<CUtensorMap *>(&map)};
  return cudaLaunchKernel(kernel, grid, dim3(Shape::kThreads), parameters, Shape::kBytes, stream);
}

template <class T, class Out>
inline cudaError_t launch_shape(const arguments &p, const struct shunt_vector_shape &s,
                                const CUtensorMap &map, cudaStream_t stream)
{
  if (s.rows == 0 && s.pairs) return launch_direct<T, Out, pairs_128>(p, stream);
  if (s.rows == 0)
    return s.tile == 128 ? launch_direct<T, Out, direct_128>(p, stream)
                         : launch_direct<T, Out, direct_64>(p, stream);
  return s.tile == 128 ? launch_strips<T, Out, strips_256x128>(p, map, stream)
                       : launch_strips<T, Out, strips_256x64>(p, map, stream);
}

// The direct way with its proof; f.pieces, f.down and f.r.helpers are set here.
template <class T, class Out, class Shape>
inline cudaError_t launch_proved(const arguments &p, proof f, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  const auto kernel = &spmm_vector_proved<T, Out, Shape>;
  const int groups_a_block = kDirectWarps >> p.log2_slices;
  f.down = (p.groups + groups_a_block - 1) / groups_a_block;
  f.pieces = f.down * ((p.n + Shape::kTile - 1) / Shape::kTile);
  const int at_once = std::min(2 * d->multiprocessors, arrival_most_blocks);
  const int blocks = std::min(f.pieces, at_once);
  f.r.helpers = blocks;
  // Kept by the context, which the program may destroy: so asked for each time.
  const cudaError_t e =
      cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::kBytes);
  if (e != cudaSuccess) return e;
  return launch_early_with(Shape::kBytes, kernel, dim3(static_cast<unsigned>(blocks)),
                           dim3(proved_threads<Shape>), d, stream, p, f) == SHUNT_OK
             ? cudaSuccess
             : cudaErrorUnknown;
}

template <class T, class Out>
inline cudaError_t launch_proved_shape(const arguments &p, const proof &f, int tile,
                                       const struct shunt_device *d, cudaStream_t stream)
{
  return tile == 128 ? launch_proved<T, Out, direct_128>(p, f, d, stream)
                     : launch_proved<T, Out, direct_64>(p, f, d, stream);
}

cudaError_t launch_f16(const arguments &p, const struct shunt_vector_shape &s,
                       const CUtensorMap &map, shunt_type out, cudaStream_t stream);
cudaError_t launch_bf16(const arguments &p, const struct shunt_vector_shape &s,
                        const CUtensorMap &map, shunt_type out, cudaStream_t stream);
cudaError_t launch_proved_f16(const arguments &p, const proof &f, int tile, shunt_type out,
                              const struct shunt_device *d, cudaStream_t stream);
cudaError_t launch_proved_bf16(const arguments &p, const proof &f, int tile, shunt_type out,
                               const struct shunt_device *d, cudaStream_t stream);

} // namespace vector
} // namespace shunt
