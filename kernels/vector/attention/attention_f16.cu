// attention_f16.cu: the kernels of shunt_vector_attention_cuda for f16.
#include "kernels/vector/attention/attention.cuh"

namespace shunt
{
namespace vector
{

cudaError_t launch_attention_f16(const attention_arguments &a, int64_t d, int64_t problems,
                                 cudaStream_t stream)
{
  return launch_attention_d<__half>(a, d, problems, stream);
}

} // namespace vector
} // namespace shunt
