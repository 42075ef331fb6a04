// wgmma_sparse.cuh: wgmma.cuh's products with A 2:4, of which only two values in four are stored;
// one wrapper per instruction and nothing else.  Needs sm_90a.
//
//   D[64 x N] (+)= A[64 x 32] B[32 x N]      f16 or bf16 in, f32 sums
//   D[64 x N] (+)= A[64 x 64] B[64 x N]      int8 in, int32 sums (wrapping); B is K-major
//
// A's operand is its 64 x 16 (64 x 32) stored values, two for each quad (aligned four columns) of a
// row.
// metadata: four bits a quad, the positions of its two values, which must ascend, the
// first in the low two bits.  Row 16 w + 8 h + g of quads 4 i .. 4 i + 3 (i < 2): half h of
// the word of lane 4 g + i + 2 Selector of warp w, the first quad in the low bits.  The other
// lanes' words are not looked at.  int8: the word of lane 4 g + 2 i + h of warp w has quads
// 8 i .. 8 i + 7 of row 16 w + 8 h + g.
//
// The word is read while the product is under way: as with D, the register must not be written
// before the group was waited for.  The compiler does not know; wgmma_keep behind the wait
// makes it hold the register until there.  (Seen on an H200: without it, sums went wrong.)
// https://docs.nvidia.com/cuda/parallel-thread-execution/#asynchronous-warpgroup-level-matrix-instructions-wgmma-mma-async-sp
#pragma once
#include "kernels/ptx/wgmma.cuh"

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void wgmma_keep(uint32_t metadata)
{
  asm volatile("" ::"r"(metadata));
}

// clang-format off
// A is K-major; BMajor: 0: B is K-major, 1: MN-major.  keep: D += A B, else D = A B.
#define SHUNT_WGMMA_SPARSE(N, type, numbers, operands, A, B, META, KEEP, SELECTOR, MAJOR) \
  template <int BMajor, int Selector> \
  __device__ __forceinline__ void wgmma_sp_m64n##N##k32_##type(float (&d)[N / 2], uint64_t a, \
                                                               uint64_t b, uint32_t metadata, \
                                                               bool keep) \
  { \
    asm volatile("{\n\t.reg .pred keep;\n\tsetp.ne.b32 keep, %" KEEP ", 0;\n\t" \
                 "wgmma.mma_async.sp.sync.aligned.m64n" #N "k32.f32." #type "." #type \
                 " {" numbers "}, %" A ", %" B ", %" META ", %" SELECTOR \
                 ", keep, 1, 1, 0, %" MAJOR ";\n\t}" \
                 : operands \
                 : "l"(a), "l"(b), "r"(metadata), "r"((int)keep), "n"(Selector), "n"(BMajor)); \
  }
#define SHUNT_WGMMA_TYPE(type) \
  SHUNT_WGMMA_SPARSE(128, type, SHUNT_WGMMA_0_31 ", " SHUNT_WGMMA_32_63, SHUNT_WGMMA_D64(0), \
                     "64", "65", "66", "67", "68", "69") \
  SHUNT_WGMMA_SPARSE(256, type, SHUNT_WGMMA_0_31 ", " SHUNT_WGMMA_32_63 ", " SHUNT_WGMMA_64_127, \
                     SHUNT_WGMMA_D128, "128", "129", "130", "131", "132", "133")
// clang-format on
SHUNT_WGMMA_TYPE(f16)
SHUNT_WGMMA_TYPE(bf16)
#undef SHUNT_WGMMA_TYPE
#undef SHUNT_WGMMA_SPARSE

// clang-format off
#define SHUNT_WGMMA_SPARSE(N, numbers, operands, A, B, META, KEEP) \
  __device__ __forceinline__ void wgmma_sp_m64n##N##k64_s8(int32_t (&d)[N / 2], uint64_t a, \
                                                           uint64_t b, uint32_t metadata, \
                                                           bool keep) \
  { \
    asm volatile("{\n\t.reg .pred keep;\n\tsetp.ne.b32 keep, %" KEEP ", 0;\n\t" \
                 "wgmma.mma_async.sp.sync.aligned.m64n" #N "k64.s32.s8.s8" \
                 " {" numbers "}, %" A ", %" B ", %" META ", 0, keep;\n\t}" \
                 : operands \
                 : "l"(a), "l"(b), "r"(metadata), "r"((int)keep)); \
  }
SHUNT_WGMMA_SPARSE(128, SHUNT_WGMMA_0_31 ", " SHUNT_WGMMA_32_63, SHUNT_WGMMA_I64(0), "64", "65",
                   "66", "67")
SHUNT_WGMMA_SPARSE(256, SHUNT_WGMMA_0_31 ", " SHUNT_WGMMA_32_63 ", " SHUNT_WGMMA_64_127,
                   SHUNT_WGMMA_I128, "128", "129", "130", "131")
// clang-format on
#undef SHUNT_WGMMA_SPARSE

} // namespace ptx
} // namespace shunt
