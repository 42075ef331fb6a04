// mma_f64.cuh: mma.sync.m16n8k8 for f64, one wrapper per instruction and nothing else.  On sm_80,
// which has m8n8k4 only, four of those.
//
//   D[16 x 8] = A[16 x 8] B[8 x 8] + D        (A "row", B "col")
//
// Who holds what (lane l, g = l / 4, t = l % 4):
//
//   A (row, k)              B (k, column)         D (row, column)
//   a[0] = (g,     t)       b[0] = (t,     g)     d[0] = (g,     2t)
//   a[1] = (g + 8, t)       b[1] = (t + 4, g)     d[1] = (g,     2t + 1)
//   a[2] = (g,     t + 4)                         d[2] = (g + 8, 2t)
//   a[3] = (g + 8, t + 4)                         d[3] = (g + 8, 2t + 1)
//
// https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-mma
#pragma once

namespace shunt
{
namespace ptx
{

__device__ __forceinline__ void mma_m8n8k4_f64(double &d0, double &d1, double a, double b)
{
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d0), "+d"(d1)
      : "d"(a), "d"(b));
}

__device__ __forceinline__ void mma_m16n8k8_f64(double (&d)[4], const double (&a)[4],
                                                const double (&b)[2])
{
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  mma_m8n8k4_f64(d[0], d[1], a[0], b[0]);
  mma_m8n8k4_f64(d[0], d[1], a[2], b[1]);
  mma_m8n8k4_f64(d[2], d[3], a[1], b[0]);
  mma_m8n8k4_f64(d[2], d[3], a[3], b[1]);
#endif
}

} // namespace ptx
} // namespace shunt
