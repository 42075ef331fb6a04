// tile_spmm_bf16.cu: the kernels over gathered dense tiles for bf16.
#include "kernels/tile/tile_spmm_launch.cuh"

namespace shunt
{
namespace tile
{

cudaError_t launch_bf16(const arguments &p, shunt_type out, cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_gather<__nv_bfloat16, float, false>(p, stream)
                          : launch_gather<__nv_bfloat16, __nv_bfloat16, false>(p, stream);
}

} // namespace tile
} // namespace shunt
