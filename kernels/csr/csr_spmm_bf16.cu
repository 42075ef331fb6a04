// csr_spmm_bf16.cu: the csr kernels for bfloat16 A and B, bfloat16 or float C, sums in float.
#include "kernels/csr/csr_spmm_launch.cuh"

namespace shunt
{
namespace csr
{

shunt_status launch_bf16(const shunt_spmm *p, const shunt_device *d, const layout &how,
                         void *workspace, shunt_stream stream)
{
  if (p->compute != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->c.type == SHUNT_BF16)
    return launch<__nv_bfloat16, __nv_bfloat16, float, 8, 2>(p, d, how, workspace, stream);
  if (p->c.type == SHUNT_F32)
    return launch<__nv_bfloat16, float, float, 8, 2>(p, d, how, workspace, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace csr
} // namespace shunt
