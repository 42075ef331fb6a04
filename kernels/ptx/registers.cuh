// registers.cuh: how many registers a warpgroup's threads have; one wrapper per instruction and
// nothing else.  Needs sm_90a, and a kernel with a bound on its registers.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#miscellaneous-instructions-setmaxnreg
#pragma once

namespace shunt
{
namespace ptx
{

// Registers of each thread of the warpgroup, a multiple of 8: given back, and taken.
template <int Registers> __device__ __forceinline__ void registers_give()
{
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers> __device__ __forceinline__ void registers_take()
{
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

} // namespace ptx
} // namespace shunt
