// tma.cuh: the tensor copy engine, global to shared, and barriers of a cluster; one wrapper
// per instruction and nothing else.  Needs sm_90.
//
// A tensor map (CUtensorMap, made by kernels/common/tensor_map.h, a __grid_constant__ parameter)
// describes a matrix in global memory and a box; load_2d brings the box whose first element is (x,
// y), x along the row, zeros where the matrix has none, and reports its bytes to a barrier.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk-tensor
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void tensor_prefetch(const void *map)
{
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ __forceinline__ void tensor_load_2d(uint32_t to, const void *map, int x, int y,
                                               uint32_t barrier)
{
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}
// Number of this block in its cluster (0 where there is none).
__device__ __forceinline__ uint32_t cluster_rank()
{
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// A barrier of all threads of all blocks of the cluster; shared memory written before the arrival
// is visible after the wait.  A thread that has arrived must wait before it arrives again.
__device__ __forceinline__ void cluster_arrive()
{
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
// The same, if no memory is to become visible by it.
__device__ __forceinline__ void cluster_arrive_relaxed()
{
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait()
{
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_barrier()
{
  cluster_arrive();
  cluster_wait();
}

} // namespace ptx
} // namespace shunt
