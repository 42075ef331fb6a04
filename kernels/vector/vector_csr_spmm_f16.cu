// vector_csr_spmm_f16.cu: the kernels of shunt_vector_csr_spmm_cuda for f16.
#include "kernels/vector/vector_csr_spmm_mma.cuh"
#include "kernels/vector/vector_csr_spmm_single_launch.cuh"

namespace shunt
{
namespace vector::csr
{

cudaError_t launch_f16(const arguments &p, int tile, shunt_type out, int compute_capability,
                       cudaStream_t stream)
{
  return launch_mma<__half>(p, tile, out, compute_capability, stream);
}

cudaError_t launch_once_f16(const arguments &p, const shunt_vector_single_launch &how,
                            shunt_type out, int compute_capability, cudaStream_t stream)
{
  return launch_once_of<__half>(p, how, out, compute_capability, stream);
}

} // namespace vector::csr
} // namespace shunt
