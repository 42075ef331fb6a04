// srbcrs_spmm_whole.cu: the launch of SpMM by tiles of B that are whole (srbcrs_spmm_whole.cuh).
#include "kernels/common/divide.h"
#include "kernels/common/tensor_map.h"
#include "kernels/srbcrs/srbcrs_spmm_whole.cuh"

namespace shunt
{
namespace srbcrs
{

template <class T>
static shunt_status launch_whole(const arguments<combined_store<T>> &k, const CUtensorMap &map,
                                 cudaStream_t stream)
{
  const auto kernel = &spmm_whole<combined_store<T>>;
  const int bytes = static_cast<int>(shunt_div_up(k.v.cols, whole_shape::kStrip)) *
                    (whole_shape::kStripBytes + 8);
  // Kept by the context, which the program may destroy: so asked for each time.
  if (cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess)
    return SHUNT_E_CUDA;
  const dim3 grid(static_cast<unsigned>(shunt_div_up(k.v.groups, whole_shape::kWarps)),
                  static_cast<unsigned>(shunt_div_up(k.n, whole_shape::kTile)));
  kernel<<<grid, dim3(whole_shape::kThreads), bytes, stream>>>(k, map);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

shunt_status run_whole(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                       const struct shunt_dense *b, const struct shunt_device *d,
                       cudaStream_t stream)
{
  CUtensorMap map;
  if (shunt_div_up(b->cols, whole_shape::kTile) > 65535) return SHUNT_E_UNSUPPORTED; // a grid's y
  if (!make_tensor_map(&map, *b, whole_shape::kStrip, whole_shape::kTile))
    return SHUNT_E_UNSUPPORTED;
  const shunt_status s = copy_b(p->b, *b, d, stream);
  if (s != SHUNT_OK) return s;
  return p->compute == SHUNT_I32 ? launch_whole(combined_arguments<int32_t>(p, v, b), map, stream)
                                 : launch_whole(combined_arguments<float>(p, v, b), map, stream);
}

} // namespace srbcrs
} // namespace shunt
