// stream_load_16.cuh: load_once_if of stream_load.cuh for 16 bytes.  Needs sm_80.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-ld-global-nc
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// v = *from where `there`; else v stays.
__device__ __forceinline__ void load_once_if(bool there, uint4 &v, const uint4 *from)
{
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "setp.ne.u32 p, %5, 0;\n\t"
               "@p ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n\t"
               "}"
               : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
               : "l"(from), "r"(uint32_t(there)));
}

} // namespace ptx
} // namespace shunt
