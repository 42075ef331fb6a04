// wgmma.cuh: kernels/ptx/wgmma.cuh for the emulator.  The lanes of a warp meet where they wait for a
// product.
#pragma once
#include <stdint.h>

#include "emulator.h"
#include "wgmma.h"

namespace shunt
{
namespace ptx
{

inline uint64_t wgmma_operand_plain(uint32_t address, uint32_t leading, uint32_t stride)
{
  if ((address | leading | stride) % 16 || (address | leading | stride) >> 18)
    emulator::fail("wgmma: a descriptor of address %u, leading %u, stride %u", address, leading,
                   stride);
  return address >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}
inline uint64_t wgmma_operand(uint32_t address, uint32_t leading, uint32_t stride)
{
  return wgmma_operand_plain(address, leading, stride) | (uint64_t)1 << 62;
}

struct wgmma_meeting {
  static constexpr const char *name = "wgmma";
  static void complete(wgmma_meeting *const *) {}
};
inline void wgmma_meet()
{
  wgmma_meeting mine;
  emulator::all_together(mine);
}
inline void wgmma_fence()
{
  wgmma_meet();
}
inline void wgmma_commit() {}
template <int Pending> inline void wgmma_wait()
{
  wgmma_meet();
}
#define SHUNT_WGMMA(N, type)                                                                       \
  template <int BMajor>                                                                            \
  inline void wgmma_m64n##N##k16_##type(float(&d)[N / 2], uint64_t a, uint64_t b, bool keep)       \
  {                                                                                                \
    emulator::wgmma(emulator::wgmma_type::type, {a, b, N, BMajor != 0, keep}, d);                  \
  }
SHUNT_WGMMA(64, f16)
SHUNT_WGMMA(128, f16)
SHUNT_WGMMA(256, f16)
SHUNT_WGMMA(64, bf16)
SHUNT_WGMMA(128, bf16)
SHUNT_WGMMA(256, bf16)
#undef SHUNT_WGMMA

} // namespace ptx
} // namespace shunt
