// csr_spmm_i8.cu: the csr kernels for int8 A and B, sums and C in int32 (wrapping) or float.
#include "kernels/csr/csr_spmm_launch.cuh"

namespace shunt
{
namespace csr
{

shunt_status launch_i8(const shunt_spmm *p, const shunt_device *d, const layout &how,
                       void *workspace, shunt_stream stream)
{
  if (p->compute == SHUNT_I32 && p->c.type == SHUNT_I32)
    return launch<int8_t, int32_t, int32_t, 8, 4>(p, d, how, workspace, stream);
  if (p->compute == SHUNT_F32 && p->c.type == SHUNT_F32)
    return launch<int8_t, float, float, 8, 4>(p, d, how, workspace, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace csr
} // namespace shunt
