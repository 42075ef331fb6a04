// bulk_copy.cuh: the copy engine, global to shared, for bytes that lie one after the other; one
// instruction and nothing else.  Needs sm_90.
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

} // namespace ptx
} // namespace shunt
