// mma.cuh: kernels/ptx/mma.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "instructions.h"

namespace shunt
{
namespace ptx
{

inline void mma_m16n8k16_f16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
  emulator::mma<emulator::m16n8_half<emulator::f16, 16>>(d, a, b);
}
inline void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
  emulator::mma<emulator::m16n8_half<emulator::bf16, 16>>(d, a, b);
}

} // namespace ptx
} // namespace shunt
