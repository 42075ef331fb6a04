// sorted_spmm_bf16.cu: the kernels of shunt_sorted_spmm_cuda for bf16, into the same or f32.
#include "kernels/sorted/sorted_spmm_launch.cuh"

namespace shunt
{
namespace sorted
{

shunt_status launch_bf16(const launch_plan &l)
{
  return l.p->c.type == SHUNT_F32 ? launch<__nv_bfloat16, float, float>(l)
                                  : launch<__nv_bfloat16, __nv_bfloat16, float>(l);
}

} // namespace sorted
} // namespace shunt
