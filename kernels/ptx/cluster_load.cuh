// cluster_load.cuh: reading the shared memory of another block of the cluster; one wrapper per
// instruction and nothing else.  Needs sm_90.  Addresses are 32-bit shared ones (ldst.cuh), those
// of the same variable in this block.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-mapa
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// What stands at `address` in block `rank` of the cluster.
__device__ __forceinline__ float cluster_load(uint32_t address, uint32_t rank)
{
  float v;
  asm volatile("{\n\t"
               ".reg .b32 remote;\n\t"
               "mapa.shared::cluster.u32 remote, %1, %2;\n\t"
               "ld.shared::cluster.f32 %0, [remote];\n\t"
               "}"
               : "=f"(v)
               : "r"(address), "r"(rank)
               : "memory");
  return v;
}
// The same of four; address aligned to 16.
__device__ __forceinline__ float4 cluster_load_4(uint32_t address, uint32_t rank)
{
  float4 v;
  asm volatile("{\n\t"
               ".reg .b32 remote;\n\t"
               "mapa.shared::cluster.u32 remote, %4, %5;\n\t"
               "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];\n\t"
               "}"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(address), "r"(rank)
               : "memory");
  return v;
}

} // namespace ptx
} // namespace shunt
