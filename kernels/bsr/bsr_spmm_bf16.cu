// bsr_spmm_bf16.cu: the kernels of shunt_bsr_spmm_cuda for bf16.
#include "kernels/bsr/bsr_spmm_mma.cuh"

namespace shunt
{
namespace bsr
{

cudaError_t launch_bf16(const arguments<float> &p, int size, int tile, cudaStream_t stream)
{
  return launch<__nv_bfloat16>(p, size, tile, stream);
}

} // namespace bsr
} // namespace shunt
