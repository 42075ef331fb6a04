// spmm_csr_vector_f32.cu: the kernel of shunt_spmm_csr_vector_cuda for f32.
#include "kernels/spmm_csr_vector_fma.cuh"

namespace shunt {
namespace spmm_vector {

cudaError_t launch_f32(const arguments_of<float> &p, int compute_capability, cudaStream_t stream)
{
  return launch<fma_engine<float>, float>(p, compute_capability, stream);
}

}  // namespace spmm_vector
}  // namespace shunt
