// vector_csr_spmm_f64.cu: the kernel of shunt_vector_csr_spmm_cuda for f64.
#include "kernels/vector/vector_csr_spmm_fma.cuh"

namespace shunt
{
namespace vector::csr
{

cudaError_t launch_f64(const arguments_of<double> &p, int compute_capability, cudaStream_t stream)
{
  return launch<fma_lists<double, 1>, double>(p, compute_capability, stream);
}

} // namespace vector::csr
} // namespace shunt
