// tma.cuh: kernels/ptx/tma.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

inline void tensor_prefetch(const void *) {}
inline uint32_t cluster_rank()
{
  return emulator::cluster_rank();
}
inline void cluster_arrive()
{
  emulator::cluster_arrive();
}
inline void cluster_arrive_relaxed()
{
  emulator::cluster_arrive();
}
inline void cluster_wait()
{
  emulator::cluster_wait();
}
inline void cluster_barrier()
{
  cluster_arrive();
  cluster_wait();
}

inline void tensor_load_2d(uint32_t to, const void *map, int x, int y, uint32_t barrier)
{
  emulator::copy_box(to, map, x, y, barrier);
}

} // namespace ptx
} // namespace shunt
