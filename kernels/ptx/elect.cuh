// elect.cuh: one lane of a warp; one instruction and nothing else.  Needs sm_90.
//
// The compiler knows that behind it a single lane is at work, which `lane == 0` does not tell it:
// instructions of the copy engine then stand as they are, else each in a loop over all lanes that
// might be.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-elect-sync
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// By all lanes: true in one, always the same.
__device__ __forceinline__ bool elect_one()
{
  uint32_t elected;
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "elect.sync _|p, 0xffffffff;\n\t"
               "selp.u32 %0, 1, 0, p;\n\t"
               "}"
               : "=r"(elected));
  return elected != 0;
}

} // namespace ptx
} // namespace shunt
