// stream_load.cuh: kernels/ptx/stream_load.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

inline uint32_t load_once(const uint32_t *from) { return *from; }
inline uint2 load_once(const uint2 *from) { return *from; }
inline uint32_t exclusive_or(uint32_t a, uint32_t b) { return a ^ b; }

} // namespace ptx
} // namespace shunt
