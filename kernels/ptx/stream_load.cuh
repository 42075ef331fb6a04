// stream_load.cuh: loads of what is read once: read-only path, not kept in L1; and an
// operation that the compiler leaves where it stands among them.  One wrapper per
// instruction and nothing else.  Needs sm_80.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld-global-nc
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ uint32_t load_once(const uint32_t *from)
{
  uint32_t v;
  asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(from));
  return v;
}
__device__ __forceinline__ uint2 load_once(const uint2 *from)
{
  uint2 v;
  asm volatile("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
               : "=r"(v.x), "=r"(v.y)
               : "l"(from));
  return v;
}

__device__ __forceinline__ uint32_t exclusive_or(uint32_t a, uint32_t b)
{
  uint32_t v;
  asm volatile("xor.b32 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
  return v;
}

} // namespace ptx
} // namespace shunt
