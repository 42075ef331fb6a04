// read_once.cuh: kernels/ptx/read_once.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

inline uint64_t evict_first_policy() { return 0; }

inline uint4 read_once_16(const void *p, uint64_t, bool wanted)
{
  return wanted ? *static_cast<const uint4 *>(p) : make_uint4(0, 0, 0, 0);
}
inline void prefetch_l2(const void *) {}

} // namespace ptx
} // namespace shunt
