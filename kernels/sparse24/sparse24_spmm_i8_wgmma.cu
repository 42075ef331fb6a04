// sparse24_spmm_i8_wgmma.cu: sparse24_spmm_wgmma.cuh for int8 A and B: sums in int32, C in int32
// or, scaled in float, f32.
#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
#include "kernels/sparse24/sparse24_spmm_launch.cuh"

namespace shunt
{
namespace sparse24
{

shunt_status launch_i8(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                       enum shunt_sparse24_shape shape, const struct shunt_guard *r,
                       const struct shunt_device *d, cudaStream_t stream)
{
  if (p->compute == SHUNT_I32) return launch_as<types<int8_t, int32_t>>(p, v, shape, r, d, stream);
  return launch_as<types<int8_t, float>>(p, v, shape, r, d, stream);
}

} // namespace sparse24
} // namespace shunt
#endif
