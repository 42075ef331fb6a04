// ldst.cuh: kernels/ptx/ldst.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "cuda_runtime.h"
#include "instructions.h"

namespace shunt
{
namespace ptx
{

inline uint32_t shared_address(const void *p)
{
  return emulator::shared_address(p);
}

inline void cp_async_16(uint32_t to, const void *from)
{
  emulator::copy_async(to, from, 16, 16);
}
inline void cp_async_16(uint32_t to, const void *from, int bytes)
{
  emulator::copy_async(to, from, bytes, 16);
}
inline void cp_async_4(uint32_t to, const void *from)
{
  emulator::copy_async(to, from, 4, 4);
}
inline void cp_async_4(uint32_t to, const void *from, int bytes)
{
  emulator::copy_async(to, from, bytes, 4);
}
inline void cp_async_commit()
{
  emulator::copy_commit();
}
template <int Pending> inline void cp_async_wait()
{
  emulator::copy_wait(Pending);
}

inline void ldmatrix_x4_trans(uint32_t (&out)[4], uint32_t row)
{
  emulator::ldmatrix<4, true>(out, row);
}
inline uint32_t permute_bytes(uint32_t low, uint32_t high, uint32_t selector)
{
  return __byte_perm(low, high, selector);
}

} // namespace ptx
} // namespace shunt
