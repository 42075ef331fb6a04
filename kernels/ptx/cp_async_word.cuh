// cp_async_word.cuh: cp.async of one word of 4, 8 or 16 bytes or of zeros instead; waits are those
// of ldst.cuh.  Needs sm_80.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cp-async
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// Bytes (4, 8 or 16) from `from`, through L1; zeros, and nothing is read, if `wanted` is 0.  Both
// addresses aligned to Bytes.
template <int Bytes>
__device__ __forceinline__ void cp_async_word(uint32_t to, const void *from, uint32_t wanted)
{
  asm volatile("{\n\t"
               ".reg .pred unwanted;\n\t"
               "setp.eq.u32 unwanted, %3, 0;\n\t"
               "cp.async.ca.shared.global [%0], [%1], %2, unwanted;\n\t"
               "}" ::"r"(to),
               "l"(from), "n"(Bytes), "r"(wanted)
               : "memory");
}

} // namespace ptx
} // namespace shunt
