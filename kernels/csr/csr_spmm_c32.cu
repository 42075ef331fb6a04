// csr_spmm_c32.cu: the csr kernels for complex A, B and C of two floats, sums in the same.
#include "kernels/csr/csr_spmm_launch.cuh"

namespace shunt
{
namespace csr
{

shunt_status launch_c32(const shunt_spmm *p, const shunt_device *d, const layout &how,
                        void *workspace, shunt_stream stream)
{
  using number = complex<float>;
  if (p->compute == SHUNT_C32 && p->c.type == SHUNT_C32)
    return launch<number, number, number, 2, 1>(p, d, how, workspace, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace csr
} // namespace shunt
