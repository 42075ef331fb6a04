// cluster_store.cuh: kernels/ptx/cluster_store.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "cuda_runtime.h"
#include "emulator.h"

namespace shunt
{
namespace ptx
{

inline void cluster_store_4(uint32_t address, uint32_t barrier, uint32_t rank, float4 v)
{
  emulator::cluster_store(address, barrier, rank, &v, sizeof v);
}

} // namespace ptx
} // namespace shunt
