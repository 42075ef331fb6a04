// gpu_scope.cuh: relaxed loads and atomics on global memory that all blocks of the device
// agree on; one wrapper per instruction and nothing else.  Needs sm_70.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-atom
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

struct word_pair {
  uint64_t first, second;
};

// 16 bytes, aligned to 16; each half is read at once, the two perhaps at different times.
__device__ __forceinline__ word_pair load_relaxed(const void *p)
{
  word_pair v;
  asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(v.first), "=l"(v.second)
               : "l"(p)
               : "memory");
  return v;
}

// Both return what stood there before.
__device__ __forceinline__ uint64_t add_relaxed(uint64_t *p, uint64_t x)
{
  uint64_t before;
  asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(p), "l"(x)
               : "memory");
  return before;
}
__device__ __forceinline__ uint32_t add_relaxed(uint32_t *p, uint32_t x)
{
  uint32_t before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(p), "r"(x)
               : "memory");
  return before;
}

// *p |= bits, after what this thread has done to *p before and before what it does next.
__device__ __forceinline__ void or_relaxed(uint64_t *p, uint64_t bits)
{
  asm volatile("red.relaxed.gpu.global.or.b64 [%0], %1;" ::"l"(p), "l"(bits) : "memory");
}

// *p = to if *p == from; returns what stood there before.
__device__ __forceinline__ uint64_t swap_relaxed(uint64_t *p, uint64_t from, uint64_t to)
{
  uint64_t before;
  asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(before)
               : "l"(p), "l"(from), "l"(to)
               : "memory");
  return before;
}

} // namespace ptx
} // namespace shunt
