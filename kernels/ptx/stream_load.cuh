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

// v = *from where `there`; else v stays.
__device__ __forceinline__ void load_once_if(bool there, uint32_t &v, const uint32_t *from)
{
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "setp.ne.u32 p, %2, 0;\n\t"
               "@p ld.global.nc.L1::no_allocate.u32 %0, [%1];\n\t"
               "}"
               : "+r"(v)
               : "l"(from), "r"(uint32_t(there)));
}
__device__ __forceinline__ void load_once_if(bool there, uint2 &v, const uint2 *from)
{
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "setp.ne.u32 p, %3, 0;\n\t"
               "@p ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];\n\t"
               "}"
               : "+r"(v.x), "+r"(v.y)
               : "l"(from), "r"(uint32_t(there)));
}

__device__ __forceinline__ uint32_t exclusive_or(uint32_t a, uint32_t b)
{
  uint32_t v;
  asm volatile("xor.b32 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
  return v;
}

// What L2 is to do with lines that are read under this policy: give them up first.
__device__ __forceinline__ uint64_t evict_first_policy()
{
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

// 16 bytes at p, aligned to 16, past L1, that nobody writes while the kernel runs, into v, which
// stays as it is, and nothing is read, unless `wanted`.
__device__ __forceinline__ void read_once_16_if(bool wanted, uint4 &v, const void *p,
                                                uint64_t policy)
{
  asm volatile("{\n\t"
               ".reg .pred wanted;\n\t"
               "setp.ne.u32 wanted, %6, 0;\n\t"
               "@wanted ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 "
               "{%0, %1, %2, %3}, [%4], %5;\n\t"
               "}"
               : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
               : "l"(p), "l"(policy), "r"((uint32_t)wanted));
}

// The same; zeros unless `wanted`.
__device__ __forceinline__ uint4 read_once_16(const void *p, uint64_t policy, bool wanted)
{
  uint4 v = make_uint4(0, 0, 0, 0);
  read_once_16_if(wanted, v, p, policy);
  return v;
}

// Fetches the line at p into L2, which stays coherent: it is a hint and no read.
__device__ __forceinline__ void prefetch_l2(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

} // namespace ptx
} // namespace shunt
