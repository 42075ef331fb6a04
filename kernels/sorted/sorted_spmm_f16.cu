// sorted_spmm_f16.cu: the kernels of shunt_sorted_spmm_cuda for f16, into the same or f32.
#include "kernels/sorted/sorted_spmm_launch.cuh"

namespace shunt
{
namespace sorted
{

shunt_status launch_f16(const launch_plan &l)
{
  return l.p->c.type == SHUNT_F32 ? launch<__half, float, float>(l)
                                  : launch<__half, __half, float>(l);
}

} // namespace sorted
} // namespace shunt
