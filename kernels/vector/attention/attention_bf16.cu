// attention_bf16.cu: the kernels of shunt_vector_attention_cuda for bf16.
#include "kernels/vector/attention/attention.cuh"

namespace shunt
{
namespace vector
{

cudaError_t launch_attention_bf16(const attention_arguments &a, int64_t d, int64_t problems,
                                  cudaStream_t stream)
{
  return launch_attention_d<__nv_bfloat16>(a, d, problems, stream);
}

} // namespace vector
} // namespace shunt
