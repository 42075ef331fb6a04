// ldst.cuh: moving bytes: cp.async, ldmatrix and the byte permute; one wrapper per
// instruction and nothing else.  Needs sm_80.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-asynchronous-copy
#pragma once
#include <stdint.h>

namespace shunt
{
namespace ptx
{

// The 32-bit address of shared memory that cp.async and ldmatrix want.
__device__ __forceinline__ uint32_t shared_address(const void *p)
{
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// 16 bytes, global to shared, past L1; both addresses aligned to 16.
__device__ __forceinline__ void cp_async_16(uint32_t to, const void *from)
{
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
// The same, of which only the first `bytes` are read, the others are zeros.
__device__ __forceinline__ void cp_async_16(uint32_t to, const void *from, int bytes)
{
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
// 4 bytes, through L1; both addresses aligned to 4.
__device__ __forceinline__ void cp_async_4(uint32_t to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void cp_async_4(uint32_t to, const void *from, int bytes)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void cp_async_commit()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits until at most `Pending` of this thread's newest groups are under way.
template <int Pending> __device__ __forceinline__ void cp_async_wait()
{
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

// Four 8 x 8 matrices of 16-bit elements, transposed on the way.  Lane l gives the
// address of row l % 8 (16 bytes, aligned) of matrix l / 8; it receives, in out[j],
// elements (2 (l % 4), l / 4) and (2 (l % 4) + 1, l / 4) of matrix j.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-ldmatrix
__device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&out)[4], uint32_t row)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(row)
               : "memory");
}

// Four bytes out of the eight of {high, low}: nibble i of `selector` names the byte
// (0..3 of low, 4..7 of high) that becomes byte i.
__device__ __forceinline__ uint32_t permute_bytes(uint32_t low, uint32_t high, uint32_t selector)
{
  uint32_t v;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(v) : "r"(low), "r"(high), "r"(selector));
  return v;
}

} // namespace ptx
} // namespace shunt
