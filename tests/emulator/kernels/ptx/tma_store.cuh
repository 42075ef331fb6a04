// tma_store.cuh: kernels/ptx/tma_store.cuh for the emulator: a store is done when it is asked for.
#pragma once
#include <stdint.h>

#include "emulator.h"

namespace shunt
{
namespace ptx
{

inline void tensor_store_fence() {}
inline void tensor_store_2d(const void *map, int x, int y, uint32_t from)
{
  emulator::store_box(map, x, y, from);
}
inline void tensor_store_commit() {}
inline void tensor_store_wait() {}

} // namespace ptx
} // namespace shunt
