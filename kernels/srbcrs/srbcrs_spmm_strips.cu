// srbcrs_spmm_strips.cu: the launch of SpMM by strips of B (srbcrs_spmm_strips.cuh).
#include "kernels/common/allow_shared.h"
#include "kernels/common/divide.h"
#include "kernels/common/tensor_map.h"
#include "kernels/srbcrs/srbcrs_spmm_strips.cuh"

namespace shunt
{
namespace srbcrs
{

template <class Shape> constexpr bool is_as_told()
{
  return Shape::kBytes <= SHUNT_SRBCRS_STRIPS_BYTES && Shape::kStrip == SHUNT_SRBCRS_STRIP &&
         Shape::kWarps * Shape::kGroups == SHUNT_SRBCRS_STRIP_GROUPS;
}
static_assert(is_as_told<strips_128>() && is_as_told<strips_64>(), "srbcrs_kernels.h");
static_assert(strips_128::kWindow == 5 && strips_64::kWindow == 8, "shunt_srbcrs_strips_held");

template <class Shape, class T>
static shunt_status launch_strips(const arguments<combined_store<T>> &k, const CUtensorMap &map,
                                  cudaStream_t stream)
{
  constexpr auto kernel = &spmm_strips<combined_store<T>, Shape>;
  if (allow_shared<kernel>(Shape::kBytes) != cudaSuccess) return SHUNT_E_CUDA;
  const dim3 grid(static_cast<unsigned>(shunt_div_up(k.v.groups, Shape::kWarps * Shape::kGroups)),
                  static_cast<unsigned>(shunt_div_up(k.n, Shape::kTile)));
  kernel<<<grid, dim3(Shape::kThreads), Shape::kBytes, stream>>>(k, map);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class T>
static shunt_status launch_columns(const arguments<combined_store<T>> &k, int columns,
                                   const CUtensorMap &map, cudaStream_t stream)
{
  return columns == 128 ? launch_strips<strips_128>(k, map, stream)
                        : launch_strips<strips_64>(k, map, stream);
}

shunt_status run_strips(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                        const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                        const struct shunt_device *d, cudaStream_t stream)
{
  CUtensorMap map;
  if (shunt_div_up(b->cols, shape->columns) > 65535) return SHUNT_E_UNSUPPORTED; // a grid's y
  if (!make_tensor_map(&map, *b, SHUNT_SRBCRS_STRIP, shape->columns)) return SHUNT_E_UNSUPPORTED;
  const shunt_status s = copy_b(p->b, *b, d, stream);
  if (s != SHUNT_OK) return s;
  return p->compute == SHUNT_I32
             ? launch_columns(combined_arguments<int32_t>(p, v, b), shape->columns, map, stream)
             : launch_columns(combined_arguments<float>(p, v, b), shape->columns, map, stream);
}

} // namespace srbcrs
} // namespace shunt
