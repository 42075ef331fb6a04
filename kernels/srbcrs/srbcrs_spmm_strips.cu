// srbcrs_spmm_strips.cu: which strips there are (srbcrs_spmm_strips.cuh), and their launch.
#include "kernels/common/divide.h"
#include "kernels/common/tensor_map.h"
#include "kernels/srbcrs/srbcrs_spmm_strips.cuh"

namespace shunt
{
namespace srbcrs
{

template <class T, class Shape>
static shunt_status launch_strips(const arguments<combined_store<T>> &k, const struct shunt_dense *b,
                                  cudaStream_t stream)
{
  CUtensorMap map;
  if (!make_tensor_map(&map, *b, Shape::kStrip, Shape::kTile)) return SHUNT_E_UNSUPPORTED;
  const auto kernel = &spmm_strips<combined_store<T>, Shape>;
  const int64_t down = shunt_div_up(k.v.groups, Shape::kWarps * Shape::kGroups);
  const int64_t across = shunt_div_up(k.n, Shape::kTile);
  if (down > INT32_MAX || across > 65535) return SHUNT_E_UNSUPPORTED;
  // Kept by the context, which the program may destroy: so asked for each time.
  if (cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                           Shape::kBytes) != cudaSuccess)
    return SHUNT_E_CUDA;
  const dim3 grid(static_cast<unsigned>(down), static_cast<unsigned>(across));
  kernel<<<grid, dim3(Shape::kThreads), Shape::kBytes, stream>>>(k, map);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class T>
static shunt_status run_strips_of(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                                  const struct shunt_srbcrs_shape *s, const struct shunt_dense *b,
                                  cudaStream_t stream)
{
  const arguments<combined_store<T>> k = combined_arguments<T>(p, v, b);
  if (s->columns == 128) return launch_strips<T, strips_32x128>(k, b, stream);
  return s->groups == 32 ? launch_strips<T, strips_32x64>(k, b, stream)
                         : launch_strips<T, strips_16x64>(k, b, stream);
}

shunt_status run_strips(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                        const struct shunt_srbcrs_shape *shape, const struct shunt_dense *b,
                        cudaStream_t stream)
{
  return p->compute == SHUNT_I32 ? run_strips_of<int32_t>(p, v, shape, b, stream)
                                 : run_strips_of<float>(p, v, shape, b, stream);
}

} // namespace srbcrs
} // namespace shunt

using namespace shunt::srbcrs;

extern "C" bool shunt_srbcrs_spmm_strips_fit(const struct shunt_srbcrs_shape *s,
                                             const struct shunt_device *d)
{
  const bool wide = s->columns == 128 && s->groups == 32;
  const bool slim = s->columns == 64 && (s->groups == 16 || s->groups == 32);
  const int bytes = wide                ? strips_32x128::kBytes
                    : s->groups == 32 ? strips_32x64::kBytes
                                      : strips_16x64::kBytes;
  return (wide || slim) && s->split == 1 && d->compute_capability >= 90 &&
         d->shared_per_block >= bytes;
}
