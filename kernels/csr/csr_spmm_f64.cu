// csr_spmm_f64.cu: the csr kernels for double A, B and C, sums in double.
#include "kernels/csr/csr_spmm_launch.cuh"

namespace shunt
{
namespace csr
{

shunt_status launch_f64(const shunt_spmm *p, const shunt_device *d, const layout &how,
                        void *workspace, shunt_stream stream)
{
  if (p->compute == SHUNT_F64 && p->c.type == SHUNT_F64)
    return launch<double, double, double, 2, 1>(p, d, how, workspace, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace csr
} // namespace shunt
