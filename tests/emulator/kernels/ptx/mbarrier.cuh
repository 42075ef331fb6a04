// mbarrier.cuh: kernels/ptx/mbarrier.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

inline void mbarrier_init(uint32_t barrier, uint32_t arrivals)
{
  emulator::barrier_init(barrier, arrivals);
}
inline void mbarrier_init_fence() {}
inline void mbarrier_arrive_expect(uint32_t barrier, uint32_t bytes)
{
  emulator::barrier_arrive(barrier, emulator::cluster_rank(), bytes);
}
inline void mbarrier_arrive(uint32_t barrier)
{
  emulator::barrier_arrive(barrier, emulator::cluster_rank(), 0);
}
inline void mbarrier_arrive_at(uint32_t barrier, uint32_t rank)
{
  emulator::barrier_arrive(barrier, rank, 0);
}
inline bool mbarrier_try_wait(uint32_t barrier, uint32_t parity)
{
  return emulator::barrier_test(barrier, parity);
}
inline void mbarrier_wait(uint32_t barrier, uint32_t parity)
{
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

} // namespace ptx
} // namespace shunt
