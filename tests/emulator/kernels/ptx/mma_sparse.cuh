// mma_sparse.cuh: kernels/ptx/mma_sparse.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "instructions.h"

namespace shunt
{
namespace ptx
{

inline void mma_sp_m16n8k32_f16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4],
                                uint32_t metadata)
{
  emulator::mma<emulator::m16n8k32_sparse<emulator::f16>>(d, a, b, metadata, 0);
}
inline void mma_sp_m16n8k32_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[4],
                                 uint32_t metadata)
{
  emulator::mma<emulator::m16n8k32_sparse<emulator::bf16>>(d, a, b, metadata, 0);
}

} // namespace ptx
} // namespace shunt
