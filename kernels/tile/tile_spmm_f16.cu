// tile_spmm_f16.cu: the kernels over gathered dense tiles for f16.
#include "kernels/tile/tile_spmm_launch.cuh"

namespace shunt
{
namespace tile
{

cudaError_t launch_f16(const arguments &p, shunt_type out, cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_gather<__half, float, false>(p, stream)
                          : launch_gather<__half, __half, false>(p, stream);
}

} // namespace tile
} // namespace shunt
