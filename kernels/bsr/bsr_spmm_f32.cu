// bsr_spmm_f32.cu: the kernels of shunt_bsr_spmm_cuda for f32.
#include "kernels/bsr/bsr_spmm_fma.cuh"

namespace shunt
{
namespace bsr
{

cudaError_t launch_f32(const arguments<float> &p, int size, int tile, cudaStream_t stream)
{
  return launch_fma<float>(p, size, tile, stream);
}

} // namespace bsr
} // namespace shunt
