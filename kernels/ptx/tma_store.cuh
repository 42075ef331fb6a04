// tma_store.cuh: the tensor copy engine, shared to global; one wrapper per instruction and nothing
// else.  Needs sm_90.
//
// A box of shared memory goes to the matrix that a tensor map describes (tma.cuh), as much of it as
// lies inside.  What threads have written to shared memory the engine sees behind their fence.
// Stores are counted in groups, by the thread that asked for them; waiting for all groups makes the
// stores visible to it.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk-tensor
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void tensor_store_fence()
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void tensor_store_2d(const void *map, int x, int y, uint32_t from)
{
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}
__device__ __forceinline__ void tensor_store_commit()
{
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ __forceinline__ void tensor_store_wait()
{
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

} // namespace ptx
} // namespace shunt
