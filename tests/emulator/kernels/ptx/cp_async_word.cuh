// cp_async_word.cuh: kernels/ptx/cp_async_word.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "cuda_runtime.h"
#include "instructions.h"

namespace shunt
{
namespace ptx
{

template <int Bytes> inline void cp_async_word(uint32_t to, const void *from, uint32_t wanted)
{
  emulator::copy_async(to, from, wanted ? Bytes : 0, Bytes);
}

} // namespace ptx
} // namespace shunt
