// csr_spmm_f32.cu: the kernels of shunt_spmm_csr_vector_cuda for f32.
#include "kernels/vector/csr_spmm_fma.cuh"

namespace shunt {
namespace spmm_vector {

cudaError_t launch_f32(const arguments_of<float> &p, int tile, int compute_capability,
                       cudaStream_t stream)
{
  return tile == 128 ? launch<fma_engine<float, 2>, float>(p, compute_capability, stream)
                     : launch<fma_engine<float, 1>, float>(p, compute_capability, stream);
}

}  // namespace spmm_vector
}  // namespace shunt
