// cp_async_barrier.cuh: telling a barrier in shared memory (mbarrier.cuh) that this thread's
// cp.async copies (ldst.cuh) have come; one instruction and nothing else.  Needs sm_80.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-cp-async-mbarrier-arrive
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// Arrives once, when all copies that the thread has started are done; does not wait.  The
// arrival is one of those that the barrier was initialised for (.noinc).
__device__ __forceinline__ void cp_async_arrive(uint32_t barrier)
{
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

} // namespace ptx
} // namespace shunt
