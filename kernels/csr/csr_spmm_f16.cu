// csr_spmm_f16.cu: the csr kernels for half A and B, half or float C, sums in float.
#include "kernels/csr/csr_spmm_launch.cuh"

namespace shunt
{
namespace csr
{

shunt_status launch_f16(const shunt_spmm *p, const shunt_device *d, const layout &how,
                        void *workspace, shunt_stream stream)
{
  if (p->compute != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->c.type == SHUNT_F16)
    return launch<__half, __half, float, 8, 2>(p, d, how, workspace, stream);
  if (p->c.type == SHUNT_F32)
    return launch<__half, float, float, 8, 2>(p, d, how, workspace, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace csr
} // namespace shunt
