// wgmma_sparse.cuh: kernels/ptx/wgmma_sparse.cuh for the emulator.
#pragma once
#include "kernels/ptx/wgmma.cuh"

namespace shunt
{
namespace ptx
{

inline void wgmma_keep(uint32_t) {}

// The lane's two rows of A, and which of their columns are stored, from the words of the lanes that
// Selector names.
template <class T, int Selector>
inline void wgmma_unpack(uint64_t a, uint32_t metadata, float (&left)[2][32], uint32_t (&stored)[2])
{
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4;
  for (int i = 0; i < 2; i++) {
    const uint32_t word = __shfl_sync(0xffffffffu, metadata, lane / 4 * 4 + 2 * Selector + i);
    for (int h = 0; h < 2; h++)
      for (int place = 0; place < 8; place++) {
        const int quad = 4 * i + place / 2;
        const uint32_t pair = word >> (16 * h + place / 2 * 4) & 15;
        if ((pair & 3) >= pair >> 2) emulator::fail("wgmma.sp: positions %u do not ascend", pair);
        const int k = 4 * quad + (place % 2 ? pair >> 2 : pair & 3);
        left[h][k] = wgmma_value<T>(a, row + 8 * h, 8 * i + place, true);
        stored[h] |= 1u << k;
      }
  }
}

// Only what A stores is multiplied: its zeros meet no NaN of B.
template <class T, int BMajor, int Selector, int N>
inline void wgmma_sp_emulated(float (&d)[N / 2], uint64_t a, uint64_t b, uint32_t metadata,
                              bool keep)
{
  const int lane = threadIdx.x % 32;
  float left[2][32];
  uint32_t stored[2] = {0, 0};
  wgmma_unpack<T, Selector>(a, metadata, left, stored);
  for (int j = 0; j < N / 8; j++)
    for (int c = 0; c < 2; c++) {
      float sum[2] = {0, 0};
      for (int k = 0; k < 32; k++) {
        const float right = wgmma_value<T>(b, 8 * j + lane % 4 * 2 + c, k, BMajor == 0);
        for (int h = 0; h < 2; h++)
          if (stored[h] >> k & 1) sum[h] += left[h][k] * right;
      }
      for (int h = 0; h < 2; h++) d[4 * j + 2 * h + c] = (keep ? d[4 * j + 2 * h + c] : 0) + sum[h];
    }
}

#define SHUNT_WGMMA_SPARSE(N, type, T)                                                             \
  template <int BMajor, int Selector>                                                              \
  inline void wgmma_sp_m64n##N##k32_##type(float(&d)[N / 2], uint64_t a, uint64_t b,               \
                                           uint32_t metadata, bool keep)                           \
  {                                                                                                \
    wgmma_sp_emulated<T, BMajor, Selector, N>(d, a, b, metadata, keep);                            \
  }
SHUNT_WGMMA_SPARSE(128, f16, __half)
SHUNT_WGMMA_SPARSE(256, f16, __half)
SHUNT_WGMMA_SPARSE(128, bf16, __nv_bfloat16)
SHUNT_WGMMA_SPARSE(256, bf16, __nv_bfloat16)
#undef SHUNT_WGMMA_SPARSE

// int8: which columns a word stores, and what.
inline void wgmma_unpack_s8(uint64_t a, uint32_t metadata, int32_t (&left)[2][64])
{
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 % 4 * 16 + lane / 4;
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < 2; i++) {
      const uint32_t word = __shfl_sync(0xffffffffu, metadata, lane / 4 * 4 + 2 * i + h);
      for (int place = 0; place < 16; place++) {
        const uint32_t pair = word >> place / 2 * 4 & 15;
        if ((pair & 3) >= pair >> 2) emulator::fail("wgmma.sp: positions %u do not ascend", pair);
        left[h][32 * i + place / 2 * 4 + (place % 2 ? pair >> 2 : pair & 3)] =
            wgmma_byte(a, row + 8 * h, 16 * i + place);
      }
    }
}

template <int N>
inline void wgmma_sp_emulated_s8(int32_t (&d)[N / 2], uint64_t a, uint64_t b, uint32_t metadata,
                                 bool keep)
{
  int32_t left[2][64] = {};
  wgmma_unpack_s8(a, metadata, left);
  for (int j = 0; j < N / 8; j++)
    for (int c = 0; c < 2; c++) {
      uint32_t sum[2] = {0, 0};
      for (int k = 0; k < 64; k++) {
        if (left[0][k] == 0 && left[1][k] == 0) continue;
        const int32_t right = wgmma_byte(b, 8 * j + threadIdx.x % 4 * 2 + c, k);
        for (int h = 0; h < 2; h++) sum[h] += (uint32_t)(left[h][k] * right);
      }
      for (int h = 0; h < 2; h++) {
        int32_t &to = d[4 * j + 2 * h + c];
        to = (int32_t)((keep ? (uint32_t)to : 0) + sum[h]);
      }
    }
}
inline void wgmma_sp_m64n128k64_s8(int32_t (&d)[64], uint64_t a, uint64_t b, uint32_t metadata,
                                   bool keep)
{
  wgmma_sp_emulated_s8<128>(d, a, b, metadata, keep);
}
inline void wgmma_sp_m64n256k64_s8(int32_t (&d)[128], uint64_t a, uint64_t b, uint32_t metadata,
                                   bool keep)
{
  wgmma_sp_emulated_s8<256>(d, a, b, metadata, keep);
}

} // namespace ptx
} // namespace shunt
