// spmm_f32.cu: the kernel of shunt_spmm_csr_groups_cuda for f32.
#include "kernels/bundle/spmm.cuh"

namespace shunt
{
namespace spmm_groups
{

shunt_status launch_f32(const arguments<float> &a, const shunt_row_groups_shape &s, bool wide,
                        const struct shunt_device *d, cudaStream_t stream)
{
  return wide ? launch<float, 4, 0>(a, s, d, stream) : launch<float, 1, 0>(a, s, d, stream);
}

} // namespace spmm_groups
} // namespace shunt
