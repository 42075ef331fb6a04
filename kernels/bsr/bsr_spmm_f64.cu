// bsr_spmm_f64.cu: the kernels of shunt_bsr_spmm_cuda for f64.
#include "kernels/bsr/bsr_spmm_fma.cuh"

namespace shunt
{
namespace bsr
{

cudaError_t launch_f64(const arguments<double> &p, int size, int tile, cudaStream_t stream)
{
  return launch_fma<double>(p, size, tile, stream);
}

} // namespace bsr
} // namespace shunt
