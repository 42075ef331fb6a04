// cluster_load.cuh: kernels/ptx/cluster_load.cuh for the emulator.
#pragma once
#include <stdint.h>

#include "cuda_runtime.h"
#include "machine.h"

namespace shunt
{
namespace ptx
{

template <class V> inline V load_of_cluster(uint32_t address, uint32_t rank)
{
  const emulator::cluster_state *c = emulator::self->block->cluster;
  if (rank >= c->blocks.size())
    emulator::fail("mapa: block %u of a cluster of %zu", rank, c->blocks.size());
  if (c->blocks[rank]->alive == 0)
    emulator::fail("ld.shared::cluster: block %u of the cluster has left", rank);
  V v;
  memcpy(&v,
         emulator::at_shared_of(c->blocks[rank], address, sizeof v, sizeof v, "ld.shared::cluster"),
         sizeof v);
  return v;
}
inline float cluster_load(uint32_t address, uint32_t rank)
{
  return load_of_cluster<float>(address, rank);
}
inline float4 cluster_load_4(uint32_t address, uint32_t rank)
{
  return load_of_cluster<float4>(address, rank);
}

} // namespace ptx
} // namespace shunt
