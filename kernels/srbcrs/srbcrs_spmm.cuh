// srbcrs_spmm.cuh: V rows of A times 32, 64 or 128 columns of B by a warp, or by four warps of a
// block that share the group's strides.
//
// The sparse operand stands on the 8-side of mma.m16n8k32, B's columns on the 16-side:
//
//     D[16 columns of C x 8 rows]  =  B^T[16 columns x 32 slots]  A^T[32 slots x 8 rows] + D
//
// A's operand is the format as it lies: lane (g, t), g = l / 4, t = l % 4, has row g of slots
// 4t .. 4t + 3 and 4t + 16 .. 4t + 19, two words; lanes with g >= V have zeros.
//
// B stands by rows, and the operand wants four slots, that is rows of B, of one column in a word:
// so it is transposed on the way, in registers alone.  Lane (g, t) gathers, of the eight rows in
// its slots, the X bytes of columns gX .. gX + X - 1 (X = 4, 8, 16), so that eight lanes read 8X
// bytes of a row at once, and no shared memory is needed whose banks could clash:
//
//     row of slot 4t      | a0 a1 a2 a3 |  byte       a0 b0 c0 d0   column gX:     k = 4t .. 4t + 3
//     row of slot 4t + 1  | b0 b1 b2 b3 |  permutes   a1 b1 c1 d1   column gX + 1
//     row of slot 4t + 2  | c0 c1 c2 c3 |  -------->  a2 b2 c2 d2        ..
//     row of slot 4t + 3  | d0 d1 d2 d3 |  8 of them  a3 b3 c3 d3
//
// Which column of C is which row of D is free: D's row g is column gX + i of C, its row g + 8 column
// gX + i + X / 2, in mma number i of the stride's X / 2.  So lane (g, t) ends with X columns side by
// side of rows 2t and 2t + 1 of the group:
//
//     d[i][0], d[i][1]  column gX + i,          rows 2t, 2t + 1
//     d[i][2], d[i][3]  column gX + i + X / 2,  rows 2t, 2t + 1
//
// B's rows of the next stride are on their way while a stride is multiplied, and the lists of the
// one behind it.
//
// Bound: B, 32 x 8X bytes a stride out of L2 and L1: vectors x n bytes.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/common/store_run.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mma_s8.cuh"
#include "kernels/srbcrs/srbcrs_format.h"

namespace shunt
{
namespace srbcrs
{

constexpr int kStride = SHUNT_SRBCRS_STRIDE, kWarps = 4; // of a block

// T: the compute type, and that of C.
template <class T> struct arguments {
  struct shunt_srbcrs v;
  const int8_t *b; // row-major; pointer and b_row_bytes multiples of 16, no ragged last piece
  int64_t b_row_bytes;
  T *c;
  int64_t c_row_stride, c_col_stride;
  int n;
  bool c_wide; // row-major, stored by 16 bytes
  scalar_arg<T> alpha, beta;
};

// The stride's lists as a lane needs them: the rows of B in its eight slots, its words of A.
struct lane_lists {
  uint4 rows[2];
  uint32_t a[2];
};

// X bytes of each of eight rows.
template <int X> struct lane_bytes {
  uint32_t word[8][X / 4];
};

// Word i of four rows -> four words of a column each.
__device__ __forceinline__ void transpose(uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3,
                                          uint32_t (&column)[4])
{
  const uint32_t low01 = ptx::permute_bytes(r0, r1, 0x5140);
  const uint32_t low23 = ptx::permute_bytes(r2, r3, 0x5140);
  const uint32_t high01 = ptx::permute_bytes(r0, r1, 0x7362);
  const uint32_t high23 = ptx::permute_bytes(r2, r3, 0x7362);
  column[0] = ptx::permute_bytes(low01, low23, 0x5410);
  column[1] = ptx::permute_bytes(low01, low23, 0x7632);
  column[2] = ptx::permute_bytes(high01, high23, 0x5410);
  column[3] = ptx::permute_bytes(high01, high23, 0x7632);
}

template <class T, int X> struct multiplier {
  const arguments<T> &p;
  int lane, column0; // this lane's first column
  bool inside;
  int d[X / 2][4];

  __device__ __forceinline__ multiplier(const arguments<T> &args, int first)
      : p(args), lane(threadIdx.x % 32), column0(first + threadIdx.x % 32 / 4 * X), d{}
  {
    inside = column0 < p.n;
  }

  __device__ __forceinline__ lane_lists lists(int64_t stride) const
  {
    const int g = lane / 4, t = lane % 4;
    const uint4 *columns = reinterpret_cast<const uint4 *>(p.v.columns + stride * kStride);
    lane_lists l = {{__ldg(columns + t), __ldg(columns + t + 4)}, {0, 0}};
    if (g < p.v.height) {
      const uint32_t *a =
          reinterpret_cast<const uint32_t *>(p.v.values + (stride * p.v.height + g) * kStride);
      l.a[0] = __ldg(a + t), l.a[1] = __ldg(a + t + 4);
    }
    return l;
  }

  __device__ __forceinline__ void load(uint32_t row, uint32_t (&to)[X / 4]) const
  {
    const int8_t *from = p.b + row * p.b_row_bytes + column0;
    if constexpr (X == 16) {
      const uint4 x = __ldg(reinterpret_cast<const uint4 *>(from));
      to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
    } else if constexpr (X == 8) {
      const uint2 x = __ldg(reinterpret_cast<const uint2 *>(from));
      to[0] = x.x, to[1] = x.y;
    } else {
      to[0] = __ldg(reinterpret_cast<const uint32_t *>(from));
    }
  }

  __device__ __forceinline__ lane_bytes<X> gather(const lane_lists &l) const
  {
    const uint32_t row[8] = {l.rows[0].x, l.rows[0].y, l.rows[0].z, l.rows[0].w,
                             l.rows[1].x, l.rows[1].y, l.rows[1].z, l.rows[1].w};
    lane_bytes<X> b = {};
    if (!inside) return b;
#pragma unroll
    for (int i = 0; i < 8; i++) load(row[i], b.word[i]);
    return b;
  }

  __device__ __forceinline__ void multiply(const lane_bytes<X> &b, const uint32_t (&a)[2])
  {
    uint32_t column[2][X]; // of slots 4t .., of slots 4t + 16 ..
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int q = 0; q < X / 4; q++) {
        uint32_t four[4];
        transpose(b.word[4 * h][q], b.word[4 * h + 1][q], b.word[4 * h + 2][q],
                  b.word[4 * h + 3][q], four);
#pragma unroll
        for (int i = 0; i < 4; i++) column[h][4 * q + i] = four[i];
      }
#pragma unroll
    for (int i = 0; i < X / 2; i++) {
      const uint32_t columns[4] = {column[0][i], column[0][i + X / 2], column[1][i],
                                   column[1][i + X / 2]};
      ptx::mma_m16n8k32<true, true>(d[i], columns, a);
    }
  }

  // Strides first, first + by, .. before end.
  __device__ __forceinline__ void walk(int64_t first, int64_t end, int by)
  {
    if (first >= end) return;
    lane_lists next = {};
    lane_lists now = lists(first);
    lane_bytes<X> b = gather(now);
    if (first + by < end) next = lists(first + by);
    for (int64_t s = first; s < end; s += by) {
      const uint32_t a[2] = {now.a[0], now.a[1]};
      lane_bytes<X> ahead = {};
      if (s + by < end) ahead = gather(next);
      now = next;
      if (s + 2 * by < end) next = lists(s + 2 * by);
      multiply(b, a);
      b = ahead;
    }
  }

  __device__ __forceinline__ int sum_of(int column, int h) const
  {
    return d[column % (X / 2)][column / (X / 2) * 2 + h];
  }

  // The lane's columns of rows 2t and 2t + 1 of the group.
  __device__ __forceinline__ void store(int64_t group) const
  {
    const T alpha = p.alpha.get(), beta = p.beta.get();
    if (!inside) return;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int r = lane % 4 * 2 + h;
      const int64_t row = group * p.v.height + r;
      if (r >= p.v.height || row >= p.v.rows) continue;
      T v[X];
#pragma unroll
      for (int i = 0; i < X; i++) v[i] = static_cast<T>(sum_of(i, h));
      store_run<4>(p.c + row * p.c_row_stride + column0 * p.c_col_stride, p.c_col_stride,
                   p.n - column0, p.c_wide, alpha, beta, v);
    }
  }
};

// The four warps' sums, added up in the first one.
template <class T, int X> __device__ __forceinline__ void add_up(multiplier<T, X> &m, int warp)
{
  __shared__ int sums[kWarps - 1][X * 2][32];
  if (warp > 0)
#pragma unroll
    for (int i = 0; i < X * 2; i++) sums[warp - 1][i][m.lane] = m.d[i / 4][i % 4];
  __syncthreads();
  if (warp > 0) return;
#pragma unroll
  for (int i = 0; i < X * 2; i++)
#pragma unroll
    for (int w = 0; w < kWarps - 1; w++)
      m.d[i / 4][i % 4] = add<int32_t>(m.d[i / 4][i % 4], sums[w][i][m.lane]);
}

// Unit u: group u / wide, columns 8X (u % wide) .. of C; Split warps a unit.
template <class T, int X, int Split>
__global__ void __launch_bounds__(kWarps * 32) spmm_strides(const __grid_constant__ arguments<T> p)
{
  static_assert(Split == 1 || Split == kWarps, "a warp or a block a unit");
  let_next_in();
  const int warp = threadIdx.x / 32, wide = (p.n + 8 * X - 1) / (8 * X);
  const int64_t unit = static_cast<int64_t>(blockIdx.x) * (kWarps / Split) + warp / Split;
  const int64_t group = unit / wide;
  if (Split == 1 && group >= p.v.groups) return;
  multiplier<T, X> m(p, static_cast<int>(unit % wide) * 8 * X);
  const int64_t begin = p.v.begin[group] / kStride;
  const int64_t end = (p.v.end[group] + kStride - 1) / kStride;
  m.walk(begin + warp % Split, end, Split);
  if constexpr (Split > 1) {
    add_up(m, warp);
    if (warp > 0) return;
  }
  m.store(group);
}

} // namespace srbcrs
} // namespace shunt
