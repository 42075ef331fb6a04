// bsr_spmm_f16.cu: the kernels of shunt_bsr_spmm_cuda for f16.
#include "kernels/bsr/bsr_spmm_mma.cuh"

namespace shunt
{
namespace bsr
{

cudaError_t launch_f16(const arguments<float> &p, int size, int tile, cudaStream_t stream)
{
  return launch<__half>(p, size, tile, stream);
}

} // namespace bsr
} // namespace shunt
