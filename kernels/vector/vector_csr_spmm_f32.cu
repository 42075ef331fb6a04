// vector_csr_spmm_f32.cu: the kernels of shunt_vector_csr_spmm_cuda for f32.
#include "kernels/vector/vector_csr_spmm_fma.cuh"

namespace shunt
{
namespace vector::csr
{

cudaError_t launch_f32(const arguments_of<float> &p, int tile, int compute_capability,
                       cudaStream_t stream)
{
  return tile == 128 ? launch<fma_lists<float, 2>, float>(p, compute_capability, stream)
                     : launch<fma_lists<float, 1>, float>(p, compute_capability, stream);
}

} // namespace vector::csr
} // namespace shunt
