// stream_load.cuh: kernels/ptx/stream_load.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

template <class V> inline void load_once_if(bool there, V &v, const V *from)
{
  if (there) v = *from;
}
inline uint32_t exclusive_or(uint32_t a, uint32_t b)
{
  return a ^ b;
}

inline uint64_t evict_first_policy()
{
  return 0;
}

inline uint4 read_once_16(const void *p, uint64_t, bool wanted)
{
  return wanted ? *static_cast<const uint4 *>(p) : make_uint4(0, 0, 0, 0);
}
inline void read_once_16_if(bool wanted, uint4 &v, const void *p, uint64_t)
{
  if (wanted) v = *static_cast<const uint4 *>(p);
}
inline void prefetch_l2(const void *) {}

} // namespace ptx
} // namespace shunt
