// csr_spmm_f32.cu: the csr kernels for float A, B and C, sums in float.
#include "kernels/csr/csr_spmm_launch.cuh"

namespace shunt
{
namespace csr
{

shunt_status launch_f32(const shunt_spmm *p, const shunt_device *d, const layout &how,
                        void *workspace, shunt_stream stream)
{
  if (p->compute == SHUNT_F32 && p->c.type == SHUNT_F32)
    return launch<float, float, float, 4, 2>(p, d, how, workspace, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace csr
} // namespace shunt
