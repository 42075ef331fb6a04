// vector_packed_spmm_f16.cu: the kernels of shunt_vector_packed_spmm_shaped_cuda for f16.
#include "kernels/vector/vector_packed_spmm_launch.cuh"

namespace shunt
{
namespace vector
{

cudaError_t launch_f16(const arguments &p, const struct shunt_vector_shape &s,
                       const CUtensorMap &map, shunt_type out, cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_shape<__half, float>(p, s, map, stream)
                          : launch_shape<__half, __half>(p, s, map, stream);
}

} // namespace vector
} // namespace shunt
