// gpu_scope.cuh: kernels/ptx/gpu_scope.cuh for the emulator.  Only one thread runs at a time; a
// load lets others run first, since it is there to see what they do.
#pragma once
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

struct word_pair {
  uint64_t first, second;
};

inline word_pair load_relaxed(const void *p)
{
  if (reinterpret_cast<uintptr_t>(p) % 16) emulator::fail("ld.relaxed.v2.u64: misaligned");
  // The halves may be read at different times.
  word_pair v;
  const bool second_first = emulator::draw() & 1;
  const uint64_t *from = static_cast<const uint64_t *>(p);
  emulator::yield();
  (second_first ? v.second : v.first) = from[second_first];
  emulator::yield();
  (second_first ? v.first : v.second) = from[!second_first];
  return v;
}

template <class T> inline T add_at_once(T *p, T x)
{
  const T before = *p;
  *p = before + x;
  emulator::progress();
  return before;
}
inline uint64_t add_relaxed(uint64_t *p, uint64_t x)
{
  return add_at_once(p, x);
}
inline uint32_t add_relaxed(uint32_t *p, uint32_t x)
{
  return add_at_once(p, x);
}

inline void or_relaxed(uint64_t *p, uint64_t bits)
{
  *p |= bits;
  emulator::progress();
}

inline uint64_t swap_relaxed(uint64_t *p, uint64_t from, uint64_t to)
{
  const uint64_t before = *p;
  if (before == from) *p = to;
  emulator::progress();
  return before;
}

} // namespace ptx
} // namespace shunt
