// exp2.cuh: kernels/ptx/exp2.cuh for the emulator.
#pragma once
#include <float.h>
#include <math.h>

namespace shunt
{
namespace ptx
{

inline float exp2_or_zero(float x)
{
  const float y = exp2f(x);
  return y < FLT_MIN ? 0.0f : y;
}

} // namespace ptx
} // namespace shunt
