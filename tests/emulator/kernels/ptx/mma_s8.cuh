// mma_s8.cuh: kernels/ptx/mma_s8.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "instructions.h"

namespace shunt
{
namespace ptx
{

template <bool SignedA, bool SignedB>
inline void mma_m16n8k32(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
  emulator::mma<emulator::m16n8k32_8<SignedA, SignedB>>(d, a, b);
}

} // namespace ptx
} // namespace shunt
