// wgmma.cuh: matrix products of a warpgroup, whose operands lie in shared memory; one wrapper per
// instruction and nothing else.  Needs sm_90a.
//
//   D[64 x N] (+)= A[64 x 16] B[16 x N]      f16 or bf16 in, f32 sums
//
// A warpgroup is four warps, the first of which has a number divisible by 4; all of its threads
// execute these together.  Products are asynchronous:
//
//   wgmma_fence()    before the first product, and after registers of D were touched otherwise
//   wgmma_..         as many as wanted
//   wgmma_commit()   those since the last commit are a group
//   wgmma_wait<P>()  until at most P groups of the newest are under way: then D is there, and
//                    what the others read may be overwritten
//
// What a thread holds of D: rows 16 w + l / 4 and 8 below (w: warp of the group, l: lane),
//
//   d[4 j], d[4 j + 1]      row 16 w + l / 4        columns 8 j + 2 (l % 4) and the next
//   d[4 j + 2], d[4 j + 3]  row 16 w + l / 4 + 8    the same
//
// Operands are named by descriptors.  Here both stand in rows of 128 bytes, eight of which make
// 1024 bytes aligned to as much, piece q (16 bytes) of row r at q ^ (r % 8), as the copy engine
// leaves them with a swizzle of 128 bytes:
//
//   K-major    a row holds 64 values of k of one row of A (one column of B);
//              stride: bytes from eight rows to the next eight.  leading does not matter.
//              16 further along k: the address + 32
//   MN-major   a row holds 64 columns of B of one k;
//              stride: bytes from eight values of k to the next eight,
//              leading: bytes from 64 columns to the next 64.
//              16 further along k: the address + 2 stride
//
// or (wgmma_operand_plain) as matrices of 8 rows x 16 bytes, each of 128 bytes in a row, K-major:
//
//   leading: bytes from 8 values of k to the next 8; stride: from eight rows to the next eight
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions
#pragma once
#include <stdint.h>

#include "kernels/ptx/wgmma_lists.cuh"

namespace shunt
{
namespace ptx
{

// Addresses (32-bit shared ones, ldst.cuh) and distances are multiples of 16 below 256 KB.  In
// a cluster an address also names the block, in bits that a descriptor has no room for.
__device__ __forceinline__ uint64_t wgmma_operand_plain(uint32_t address, uint32_t leading,
                                                        uint32_t stride)
{
  return (address >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}
__device__ __forceinline__ uint64_t wgmma_operand(uint32_t address, uint32_t leading,
                                                  uint32_t stride)
{
  constexpr uint64_t swizzle_128 = 1;
  return wgmma_operand_plain(address, leading, stride) | swizzle_128 << 62;
}

__device__ __forceinline__ void wgmma_fence()
{
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit()
{
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending> __device__ __forceinline__ void wgmma_wait()
{
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// clang-format off
// A is K-major; BMajor: 0: B is K-major, 1: MN-major.  keep: D += A B, else D = A B.
#define SHUNT_WGMMA(N, type, numbers, operands, A, B, KEEP, MAJOR) \
  template <int BMajor> \
  __device__ __forceinline__ void wgmma_m64n##N##k16_##type(float (&d)[N / 2], uint64_t a, \
                                                            uint64_t b, bool keep) \
  { \
    asm volatile("{\n\t.reg .pred keep;\n\tsetp.ne.b32 keep, %" KEEP ", 0;\n\t" \
                 "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #type "." #type \
                 " {" numbers "}, %" A ", %" B ", keep, 1, 1, 0, %" MAJOR ";\n\t}" \
                 : operands \
                 : "l"(a), "l"(b), "r"((int)keep), "n"(BMajor)); \
  }
#define SHUNT_WGMMA_TYPE(type) \
  SHUNT_WGMMA(64, type, SHUNT_WGMMA_0_31, SHUNT_WGMMA_D32(0), "32", "33", "34", "35") \
  SHUNT_WGMMA(128, type, SHUNT_WGMMA_0_31 ", " SHUNT_WGMMA_32_63, SHUNT_WGMMA_D64(0), \
              "64", "65", "66", "67") \
  SHUNT_WGMMA(256, type, SHUNT_WGMMA_0_31 ", " SHUNT_WGMMA_32_63 ", " SHUNT_WGMMA_64_127, \
              SHUNT_WGMMA_D128, "128", "129", "130", "131")
// clang-format on
SHUNT_WGMMA_TYPE(f16)
SHUNT_WGMMA_TYPE(bf16)
#undef SHUNT_WGMMA_TYPE
#undef SHUNT_WGMMA

} // namespace ptx
} // namespace shunt
