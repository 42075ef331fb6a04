// sparse24_spmm_in_place_wgmma.cu: sparse24_spmm_wgmma.cuh for f16 and bf16, with A's values from
// where the caller has them.
#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
#include "kernels/sparse24/sparse24_spmm_launch.cuh"

namespace shunt
{
namespace sparse24
{

shunt_status launch_16_in_place(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                                enum shunt_sparse24_shape shape, const proving &r,
                                const struct shunt_device *d, cudaStream_t stream)
{
  if (p->b.type == SHUNT_F16)
    return launch_in_place<types<__half, float>>(p, v, shape, r, d, stream);
  return launch_in_place<types<__nv_bfloat16, float>>(p, v, shape, r, d, stream);
}

} // namespace sparse24
} // namespace shunt
#endif
