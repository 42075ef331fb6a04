// ring_strip.cuh: where a strip of B stands in a ring of shared memory.
//
//   strips     0    1    2   ..  kRing - 1 | kRing  ..
//   slot       0    1    2   ..  kRing - 1 |   0    ..
//   parity     0    0    0   ..      0     |   1    ..
//
// Shape names kRing, the slots of the ring; kAhead, how many strips are to come at any time; kWarps,
// the warps that read them; kFull and kEmpty, where the ring's barriers stand behind it, a full and
// an empty one for each slot.
#pragma once
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"
#include <stdint.h>

namespace shunt
{

// A strip's number, its place in the ring, and the parity of the ring's round.
template <class Shape> struct ring_strip {
  int strip = 0, slot = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void advance()
  {
    strip++;
    if (++slot == Shape::kRing) slot = 0, parity ^= 1;
  }
  __device__ __forceinline__ ring_strip ahead() const
  {
    ring_strip to = *this;
    to.strip += Shape::kAhead, to.slot += Shape::kAhead;
    if (to.slot >= Shape::kRing) to.slot -= Shape::kRing, to.parity ^= 1;
    return to;
  }
};

// By one thread: the barriers of the ring at `base` in shared memory, and the first strips, each
// by fetch(at).  Others may use the ring when they have met this thread.
template <class Shape, class Fetch>
__device__ __forceinline__ void open_ring(const void *map, uint32_t base, const Fetch &fetch)
{
  ptx::tensor_prefetch(map);
  for (int i = 0; i < Shape::kRing; i++) {
    ptx::mbarrier_init(base + Shape::kFull + 8 * i, 1);
    ptx::mbarrier_init(base + Shape::kEmpty + 8 * i, Shape::kWarps);
  }
  ptx::mbarrier_init_fence();
  for (ring_strip<Shape> at; at.strip < Shape::kAhead; at.advance()) fetch(at);
}

} // namespace shunt
