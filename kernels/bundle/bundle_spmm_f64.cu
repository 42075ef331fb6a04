// bundle_spmm_f64.cu: the kernel of shunt_bundle_spmm_cuda for f64.
#include "kernels/bundle/bundle_spmm.cuh"

namespace shunt
{
namespace bundle
{

shunt_status launch_f64(const arguments<double> &a, const shunt_bundle_shape &s, bool wide,
                        const struct shunt_device *d, cudaStream_t stream)
{
  if (!wide) return launch<double, 1, 0>(a, s, d, stream);
  struct shunt_bundle_shape tiles = s;
  tiles.long_lanes_log2 = kMmaLanesLog2;
  if (tiles.lanes_log2 < kMmaLanesLog2) tiles.lanes_log2 = kMmaLanesLog2;
  return tiles.lanes_log2 == 3   ? launch<double, 2, 1>(a, tiles, d, stream)
         : tiles.lanes_log2 == 4 ? launch<double, 2, 2>(a, tiles, d, stream)
                                 : launch<double, 2, 4>(a, tiles, d, stream);
}

} // namespace bundle
} // namespace shunt
