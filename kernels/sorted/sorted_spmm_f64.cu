// sorted_spmm_f64.cu: the kernels of shunt_sorted_spmm_cuda for f64.
#include "kernels/sorted/sorted_spmm_launch.cuh"

namespace shunt
{
namespace sorted
{

shunt_status launch_f64(const launch_plan &l)
{
  return launch<double, double, double>(l);
}

} // namespace sorted
} // namespace shunt
