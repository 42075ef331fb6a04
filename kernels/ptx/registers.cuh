// registers.cuh: how many registers the threads of a warpgroup have; one wrapper per instruction
// and nothing else.  Needs sm_90a.
//
// By all warps of a warpgroup; multiples of 8.  Who gives has that many left, who takes waits until
// they are there.  The compiler reckons with them behind it, but lets no single instruction name
// more than the kernel's threads begin with.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#miscellaneous-instructions-setmaxnreg
#pragma once

namespace shunt
{
namespace ptx
{

template <int Count> __device__ __forceinline__ void take_registers()
{
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count> __device__ __forceinline__ void give_registers()
{
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

} // namespace ptx
} // namespace shunt
