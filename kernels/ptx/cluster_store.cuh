// cluster_store.cuh: writing the shared memory of another block of the cluster; one wrapper per
// instruction and nothing else.  Needs sm_90.  Addresses are 32-bit shared ones (ldst.cuh), those
// of the same variables in this block.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-st-async
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// v to `address`, aligned to 16, of block `rank`, whose barrier at `barrier` counts its 16 bytes: a
// wait for that barrier's phase sees v.  The block must be at work until then; this one need not.
__device__ __forceinline__ void cluster_store_4(uint32_t address, uint32_t barrier, uint32_t rank,
                                                float4 v)
{
  asm volatile("{\n\t"
               ".reg .b32 to, counted;\n\t"
               "mapa.shared::cluster.u32 to, %0, %2;\n\t"
               "mapa.shared::cluster.u32 counted, %1, %2;\n\t"
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 "
               "[to], {%3, %4, %5, %6}, [counted];\n\t"
               "}" ::"r"(address),
               "r"(barrier), "r"(rank), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}

} // namespace ptx
} // namespace shunt
