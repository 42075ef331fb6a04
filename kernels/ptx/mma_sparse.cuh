// mma_sparse.cuh: mma.sp.m16n8k32 for f16 and bf16 with f32 accumulators, ordered metadata,
// one wrapper per instruction and nothing else.  Needs sm_80 and PTX 8.5.
//
//   D[16 x 8] = A[16 x 32] B[32 x 8] + D        (A 2:4 and "row", B "col")
//
// Who holds what (lane l, g = l / 4, t = l % 4; each 32-bit register of A and B is
// two 16-bit elements, the first in the low half):
//
//   A, two of each quad (row, quad)      B, 32 x 8 (k, column)               D as mma.m16n8k16
//   a[0] = (g,     t)                    b[0] = (2t,      g), (2t + 1,  g)
//   a[1] = (g + 8, t)                    b[1] = (2t + 8,  g), (2t + 9,  g)
//   a[2] = (g,     t + 4)                b[2] = (2t + 16, g), (2t + 17, g)
//   a[3] = (g + 8, t + 4)                b[3] = (2t + 24, g), (2t + 25, g)
//
// metadata: sparsity selector 0, so that of lanes 4g and 4g + 1 counts: rows g (low half) and
// g + 8 (high half), quads 0 .. 3 (lane 4g) and 4 .. 7 (lane 4g + 1), four bits a quad, from the
// low end: the positions of its two elements, which must ascend.
//
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-for-sparse-mma
#pragma once
#include <stdint.h>

// Metadata is ordered here in any case; PTX before 8.5 (CUDA 12.5) has only the instruction that
// does not ask for it, which newer chips may run slowly.
#if defined __CUDACC_VER_MAJOR__ && __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 5
#define SHUNT_MMA_SP "mma.sp"
#else
#define SHUNT_MMA_SP "mma.sp::ordered_metadata"
#endif

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void mma_sp_m16n8k32_f16(float (&d)[4], const uint32_t (&a)[4],
                                                    const uint32_t (&b)[4], uint32_t metadata)
{
  asm(SHUNT_MMA_SP
      ".sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
        "r"(metadata));
}

__device__ __forceinline__ void mma_sp_m16n8k32_bf16(float (&d)[4], const uint32_t (&a)[4],
                                                     const uint32_t (&b)[4], uint32_t metadata)
{
  asm(SHUNT_MMA_SP
      ".sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]),
        "r"(metadata));
}

#undef SHUNT_MMA_SP

} // namespace ptx
} // namespace shunt
