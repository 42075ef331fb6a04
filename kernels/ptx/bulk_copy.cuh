// bulk_copy.cuh: the copy engine, global to shared, for bytes that lie one after the other; one
// wrapper per instruction and nothing else.  Needs sm_90.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async-bulk
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// Both addresses and `bytes` are multiples of 16.  Reports the bytes to a barrier (mbarrier.cuh).
__device__ __forceinline__ void bulk_load(uint32_t to, const void *from, uint32_t bytes,
                                          uint32_t barrier)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
// The same with a policy of L2 (stream_load.cuh).
__device__ __forceinline__ void bulk_load_once(uint32_t to, const void *from, uint32_t bytes,
                                               uint32_t barrier, uint64_t policy)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
               "[%0], [%1], %2, [%3], %4;" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
               : "memory");
}

} // namespace ptx
} // namespace shunt
