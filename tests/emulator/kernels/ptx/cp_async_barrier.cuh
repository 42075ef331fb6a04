// cp_async_barrier.cuh: kernels/ptx/cp_async_barrier.cuh for the emulator.  The copies end here and
// not a while later; whoever reads without waiting for the barrier still reads before them.
#pragma once
#include <stdint.h>

#include "cuda_runtime.h"
#include "instructions.h"

namespace shunt
{
namespace ptx
{

inline void cp_async_arrive(uint32_t barrier)
{
  emulator::copy_commit();
  emulator::copy_wait(0);
  emulator::barrier_arrive(barrier, emulator::cluster_rank(), 0);
}

} // namespace ptx
} // namespace shunt
