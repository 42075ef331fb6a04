// wgmma_sparse.cuh: kernels/ptx/wgmma_sparse.cuh for the emulator.
#pragma once
#include "kernels/ptx/wgmma.cuh"

namespace shunt
{
namespace ptx
{

inline void wgmma_keep(uint32_t) {}

// What four bits say of four columns that begin with `first`: where the two that are stored stand.
inline void wgmma_pair(uint32_t pair, int first, uint8_t *place)
{
  if ((pair & 3) >= pair >> 2) emulator::fail("wgmma.sp: positions %u do not ascend", pair);
  place[0] = (uint8_t)(first + (pair & 3));
  place[1] = (uint8_t)(first + (pair >> 2));
}

// The words are those of the lanes that Selector names; one has 16 bits for each of two rows.
template <int Selector> inline void wgmma_places(uint32_t metadata, uint8_t (&place)[2][32])
{
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < 2; i++) {
    const uint32_t word = __shfl_sync(0xffffffffu, metadata, lane / 4 * 4 + 2 * Selector + i);
    for (int h = 0; h < 2; h++)
      for (int four = 0; four < 4; four++)
        wgmma_pair(word >> (16 * h + 4 * four) & 15, 16 * i + 4 * four,
                   &place[h][8 * i + 2 * four]);
  }
}

#define SHUNT_WGMMA_SPARSE(N, type)                                                                \
  template <int BMajor, int Selector>                                                              \
  inline void wgmma_sp_m64n##N##k32_##type(float(&d)[N / 2], uint64_t a, uint64_t b,               \
                                           uint32_t metadata, bool keep)                           \
  {                                                                                                \
    uint8_t place[2][32];                                                                          \
    wgmma_places<Selector>(metadata, place);                                                       \
    emulator::wgmma_sparse(emulator::wgmma_type::type, {a, b, N, BMajor != 0, keep}, place, d);    \
  }
SHUNT_WGMMA_SPARSE(128, f16)
SHUNT_WGMMA_SPARSE(256, f16)
SHUNT_WGMMA_SPARSE(128, bf16)
SHUNT_WGMMA_SPARSE(256, bf16)
#undef SHUNT_WGMMA_SPARSE

// int8: a word has 32 bits for one row.
inline void wgmma_places_s8(uint32_t metadata, uint8_t (&place)[2][32])
{
  const int lane = threadIdx.x % 32;
  for (int h = 0; h < 2; h++)
    for (int i = 0; i < 2; i++) {
      const uint32_t word = __shfl_sync(0xffffffffu, metadata, lane / 4 * 4 + 2 * i + h);
      for (int four = 0; four < 8; four++)
        wgmma_pair(word >> 4 * four & 15, 32 * i + 4 * four, &place[h][16 * i + 2 * four]);
    }
}

#define SHUNT_WGMMA_SPARSE(N)                                                                      \
  inline void wgmma_sp_m64n##N##k64_s8(int32_t(&d)[N / 2], uint64_t a, uint64_t b,                 \
                                       uint32_t metadata, bool keep)                               \
  {                                                                                                \
    uint8_t place[2][32];                                                                          \
    wgmma_places_s8(metadata, place);                                                              \
    emulator::wgmma_sparse_s8({a, b, N, false, keep}, place, d);                                   \
  }
SHUNT_WGMMA_SPARSE(128)
SHUNT_WGMMA_SPARSE(256)
#undef SHUNT_WGMMA_SPARSE

} // namespace ptx
} // namespace shunt
