// touch.cuh: a load that is made for the line it brings into L1, and the use that keeps it; one
// wrapper per instruction and nothing else.  Needs sm_80.
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// The word at p, by the read-only path, not moved by the compiler.
__device__ __forceinline__ uint32_t load_word(const void *p)
{
  uint32_t word = 0;
#ifdef __CUDA_ARCH__
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(p));
#endif
  return word;
}

// No instruction: the word counts as used here, so that its load is not left out.
__device__ __forceinline__ void keep(uint32_t word)
{
  asm volatile("" ::"r"(word));
}

} // namespace ptx
} // namespace shunt
