// spmm_bf16.cu: the kernels of shunt_spmm_blocks_cuda for bf16.
#include "kernels/bsr/spmm_mma.cuh"

namespace shunt
{
namespace blocks
{

cudaError_t launch_bf16(const arguments<float> &p, int size, int tile, cudaStream_t stream)
{
  return launch<__nv_bfloat16>(p, size, tile, stream);
}

} // namespace blocks
} // namespace shunt
