// sorted_spmm_f32.cu: the kernels of shunt_sorted_spmm_cuda for f32.
#include "kernels/sorted/sorted_spmm_launch.cuh"

namespace shunt
{
namespace sorted
{

shunt_status launch_f32(const launch_plan &l)
{
  return launch<float, float, float>(l);
}

} // namespace sorted
} // namespace shunt
