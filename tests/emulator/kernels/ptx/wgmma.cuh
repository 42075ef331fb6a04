// wgmma.cuh: kernels/ptx/wgmma.cuh for the emulator.  A thread computes its sums where the
// product is issued; the lanes of a warp meet where they wait for it.
#pragma once
#include <stdint.h>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "emulator.h"

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
// Value (i, k) of an operand that a descriptor names: i along M or N.
template <class T> inline float wgmma_value(uint64_t operand, int i, int k, bool k_major)
{
  const uint32_t start = (operand & 0x3fff) << 4, leading = (operand >> 16 & 0x3fff) << 4,
                 stride = (operand >> 32 & 0x3fff) << 4;
  uint32_t at = start + i / 8 * stride + i % 8 * 16 + k / 8 * leading + k % 8 * 2;
  if (operand >> 62) {
    at = start + (k_major ? i / 8 * stride + i % 8 * 128 + k * 2
                          : i / 64 * leading + i % 64 * 2 + k / 8 * stride + k % 8 * 128);
    at ^= (at >> 7 & 7) << 4;
  }
  const T v = *static_cast<const T *>(emulator::at_shared(at, sizeof(T), sizeof(T), "wgmma"));
  return (float)v;
}

// int8: byte k of row i of a K-major operand.
inline int32_t wgmma_byte(uint64_t operand, int i, int k)
{
  const uint32_t start = (operand & 0x3fff) << 4, leading = (operand >> 16 & 0x3fff) << 4,
                 stride = (operand >> 32 & 0x3fff) << 4;
  uint32_t at = start + i / 8 * stride + i % 8 * 16 + k / 16 * leading + k % 16;
  if (operand >> 62) {
    at = start + i / 8 * stride + i % 8 * 128 + k;
    at ^= (at >> 7 & 7) << 4;
  }
  return *static_cast<const int8_t *>(emulator::at_shared(at, 1, 1, "wgmma"));
}

template <class T, int BMajor, int N>
inline void wgmma_emulated(float (&d)[N / 2], uint64_t a, uint64_t b, bool keep)
{
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4;
  float left[2][16];
  for (int h = 0; h < 2; h++)
    for (int k = 0; k < 16; k++) left[h][k] = wgmma_value<T>(a, row + 8 * h, k, true);
  for (int j = 0; j < N / 8; j++)
    for (int c = 0; c < 2; c++) {
      float sum[2] = {0, 0};
      for (int k = 0; k < 16; k++) {
        const float right = wgmma_value<T>(b, 8 * j + lane % 4 * 2 + c, k, BMajor == 0);
        sum[0] += left[0][k] * right;
        sum[1] += left[1][k] * right;
      }
      for (int h = 0; h < 2; h++) d[4 * j + 2 * h + c] = (keep ? d[4 * j + 2 * h + c] : 0) + sum[h];
    }
}

#define SHUNT_WGMMA(N, type, T)                                                                    \
  template <int BMajor>                                                                            \
  inline void wgmma_m64n##N##k16_##type(float(&d)[N / 2], uint64_t a, uint64_t b, bool keep)       \
  {                                                                                                \
    wgmma_emulated<T, BMajor, N>(d, a, b, keep);                                                   \
  }
SHUNT_WGMMA(64, f16, __half)
SHUNT_WGMMA(128, f16, __half)
SHUNT_WGMMA(256, f16, __half)
SHUNT_WGMMA(64, bf16, __nv_bfloat16)
SHUNT_WGMMA(128, bf16, __nv_bfloat16)
SHUNT_WGMMA(256, bf16, __nv_bfloat16)
#undef SHUNT_WGMMA

} // namespace ptx
} // namespace shunt
