// vector_packed_spmm_launch.cuh: the launches of spmm_direct and spmm_strips for
// one stored type; instantiated in one file per type.
#pragma once
#include "kernels/common/allow_shared.h"
#include "kernels/vector/vector_kernels.h"
#include "kernels/vector/vector_packed_spmm_direct.cuh"
#include "kernels/vector/vector_packed_spmm_strips.cuh"

namespace shunt
{
namespace vector
{

template <class T, class Out, class Shape> constexpr auto direct_kernel()
{
  if constexpr (Shape::kGroups == 2)
    return &spmm_vector_pairs<T, Out, Shape>;
  else
    return &spmm_direct<T, Out, Shape>;
}

template <class T, class Out, class Shape>
inline cudaError_t launch_direct(const arguments &p, cudaStream_t stream)
{
  constexpr auto kernel = direct_kernel<T, Out, Shape>();
  const cudaError_t e = allow_shared<kernel>(Shape::kBytes);
  if (e != cudaSuccess) return e;
  const int groups_a_block = (kDirectWarps >> p.log2_slices) * Shape::kGroups;
  const dim3 grid((p.groups + groups_a_block - 1) / groups_a_block,
                  (p.n + Shape::kTile - 1) / Shape::kTile);
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, dim3(kDirectWarps * 32),
                          parameters, Shape::kBytes, stream);
}

template <class T, class Out, class Group, class Shape>
inline cudaError_t launch_strips(const arguments &p, const CUtensorMap &map, cudaStream_t stream)
{
  constexpr auto kernel = &spmm_strips<T, Out, Group, Shape>;
  const cudaError_t e = allow_shared<kernel>(Shape::kBytes);
  if (e != cudaSuccess) return e;
  const dim3 grid((p.rows + Shape::kRows - 1) / Shape::kRows,
                  (p.n + Shape::kTile - 1) / Shape::kTile);
  void *parameters[] = {const_cast<arguments *>(&p), const_cast<CUtensorMap *>(&map)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, dim3(Shape::kThreads),
                          parameters, Shape::kBytes, stream);
}

template <class T, class Out>
inline cudaError_t launch_shape(const arguments &p, const struct shunt_vector_shape &s,
                                const CUtensorMap &map, cudaStream_t stream)
{
  if (s.rows == 0 && s.pairs) return launch_direct<T, Out, pairs_128>(p, stream);
  if (s.rows == 0)
    return s.tile == 128 ? launch_direct<T, Out, direct_128>(p, stream)
                         : launch_direct<T, Out, direct_64>(p, stream);
  using wide = strips_256x128;
  using slim = strips_256x64;
  return s.tile == 128 ? launch_strips<T, Out, strip_group<T, wide>, wide>(p, map, stream)
                       : launch_strips<T, Out, strip_group<T, slim>, slim>(p, map, stream);
}

cudaError_t launch_f16(const arguments &p, const struct shunt_vector_shape &s,
                       const CUtensorMap &map, shunt_type out, cudaStream_t stream);
cudaError_t launch_bf16(const arguments &p, const struct shunt_vector_shape &s,
                        const CUtensorMap &map, shunt_type out, cudaStream_t stream);
// For vector_packed_spmm_tf32.cu: are sizes and types right (f32 among them); and what the kernels
// are told.
shunt_status check(const struct shunt_spmm *p, const struct shunt_vector *v);
shunt_status fill_arguments(arguments *k, const struct shunt_spmm *p, const struct shunt_vector *v,
                            const struct shunt_dense *b, const struct shunt_vector_shape *s);
// For vector_packed_spmm_proved.cu: what the direct way of p by `shape` is told;
// SHUNT_E_UNSUPPORTED where its proof cannot be inside.
shunt_status prepare_proved(const struct shunt_spmm *p, const struct shunt_vector *v,
                            const struct shunt_vector_shape *shape, const struct shunt_device *d,
                            arguments *k);

} // namespace vector
} // namespace shunt
