// mbarrier.cuh: barriers in shared memory that count arrivals and bytes; one wrapper per
// instruction and nothing else.  Clusters and counted bytes need sm_90.
//
// A barrier is 8 bytes, aligned; addresses are 32-bit shared ones (ldst.cuh).  Its phases are
// numbered from 0; a phase ends when as many threads have arrived as initialised and all
// bytes announced have come.  A wait names the parity (phase % 2) of a phase, so a waiter
// may be at most one phase behind; before phase 0 the odd one counts as ended.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-mbarrier
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void mbarrier_init(uint32_t barrier, uint32_t arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes initialised barriers visible to the cluster and to the copy engine.
__device__ __forceinline__ void mbarrier_init_fence()
{
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Arrives, and announces bytes that the copy engine will bring.
__device__ __forceinline__ void mbarrier_arrive_expect(uint32_t barrier, uint32_t bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
// Arrives at the barrier that stands at the same address in block `rank` of the cluster.  What the
// warp read from shared memory before is done with (the products that took it were waited for);
// a release at cluster scope would also wait for all global loads under way, a microsecond.
__device__ __forceinline__ void mbarrier_arrive(uint32_t barrier)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive_at(uint32_t barrier, uint32_t rank)
{
  asm volatile("{\n\t"
               ".reg .b32 remote;\n\t"
               "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
               "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t"
               "}" ::"r"(barrier),
               "r"(rank)
               : "memory");
}
// Has the phase of that parity ended?  try_wait may sleep a while before it says no.
__device__ __forceinline__ bool mbarrier_try_wait(uint32_t barrier, uint32_t parity)
{
  uint32_t done;
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
#if __CUDA_ARCH__ >= 900
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
#else
               "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
#endif
               "selp.u32 %0, 1, 0, p;\n\t"
               "}"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}
// Waits until the phase of that parity has ended.
__device__ __forceinline__ void mbarrier_wait(uint32_t barrier, uint32_t parity)
{
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

} // namespace ptx
} // namespace shunt
