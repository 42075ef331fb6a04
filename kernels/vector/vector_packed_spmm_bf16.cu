// vector_packed_spmm_bf16.cu: the kernels of shunt_vector_packed_spmm_shaped_cuda for bf16.
#include "kernels/vector/vector_packed_spmm_launch.cuh"

namespace shunt
{
namespace vector
{

cudaError_t launch_bf16(const arguments &p, const struct shunt_vector_shape &s,
                        const CUtensorMap &map, shunt_type out, cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_shape<__nv_bfloat16, float>(p, s, map, stream)
                          : launch_shape<__nv_bfloat16, __nv_bfloat16>(p, s, map, stream);
}

} // namespace vector
} // namespace shunt
