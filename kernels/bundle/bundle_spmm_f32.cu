// bundle_spmm_f32.cu: the kernel of shunt_bundle_spmm_cuda for f32.
#include "kernels/bundle/bundle_spmm.cuh"

namespace shunt
{
namespace bundle
{

shunt_status launch_f32(const arguments<float> &a, const shunt_bundle_shape &s, bool wide,
                        const struct shunt_device *d, cudaStream_t stream)
{
  return wide ? launch<float, 4, 0>(a, s, d, stream) : launch<float, 1, 0>(a, s, d, stream);
}

} // namespace bundle
} // namespace shunt
