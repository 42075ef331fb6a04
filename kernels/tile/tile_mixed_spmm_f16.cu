// tile_mixed_spmm_f16.cu: the kernels over tiles of any kind for f16.
#include "kernels/tile/tile_mixed_spmm_launch.cuh"

namespace shunt
{
namespace tile
{

cudaError_t launch_mixed_f16(const arguments &p, const struct shunt_tile_shape &s,
                             const CUtensorMap &map, shunt_type out, cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_shape<__half, float>(p, s, map, stream)
                          : launch_shape<__half, __half>(p, s, map, stream);
}

} // namespace tile
} // namespace shunt
