// bsr_spmm_i8.cu: the kernels of shunt_bsr_spmm_cuda for int8, into int32 or f32.
#include "kernels/bsr/bsr_spmm_i8.cuh"

namespace shunt
{
namespace bsr
{

cudaError_t launch_i8(const arguments<int32_t> &p, int size, int tile, cudaStream_t stream)
{
  return launch_integers<int32_t>(p, size, tile, stream);
}

cudaError_t launch_i8(const arguments<float> &p, int size, int tile, cudaStream_t stream)
{
  return launch_integers<float>(p, size, tile, stream);
}

} // namespace bsr
} // namespace shunt
