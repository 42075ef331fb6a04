// ring_strip.cuh: where a strip of B stands in a ring of shared memory.
//
//   strips     0    1    2   ..  kRing - 1 | kRing  ..
//   slot       0    1    2   ..  kRing - 1 |   0    ..
//   parity     0    0    0   ..      0     |   1    ..
//
// Shape names kRing, the slots of the ring, and kAhead, how many strips are to come at any time.
#pragma once
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

} // namespace shunt
