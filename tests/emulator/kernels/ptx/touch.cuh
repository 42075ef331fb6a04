// touch.cuh: kernels/ptx/touch.cuh for the emulator.
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

inline uint32_t load_word(const void *p)
{
  return *static_cast<const uint32_t *>(p);
}
inline void keep(uint32_t) {}

} // namespace ptx
} // namespace shunt
