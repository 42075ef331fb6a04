// elect.cuh, emulated: the first lane.
#pragma once

namespace shunt
{
namespace ptx
{

inline bool elect_one()
{
  __syncwarp();
  return threadIdx.x % 32 == 0;
}

} // namespace ptx
} // namespace shunt
