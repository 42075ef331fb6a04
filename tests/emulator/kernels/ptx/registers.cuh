// registers.cuh: kernels/ptx/registers.cuh for the emulator.
#pragma once

namespace shunt
{
namespace ptx
{

template <int Registers> inline void registers_give()
{
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256, "setmaxnreg");
}
template <int Registers> inline void registers_take()
{
  registers_give<Registers>();
}

} // namespace ptx
} // namespace shunt
