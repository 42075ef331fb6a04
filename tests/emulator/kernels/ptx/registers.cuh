// registers.cuh: kernels/ptx/registers.cuh for the emulator, which has enough of them.
#pragma once

namespace shunt
{
namespace ptx
{

template <int Count> inline void take_registers() {}
template <int Count> inline void give_registers() {}

} // namespace ptx
} // namespace shunt
