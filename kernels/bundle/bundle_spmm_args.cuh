// bundle_spmm_args.cuh: what the kernel of bundle_spmm.cuh is given, what a warp's
// lanes stand for, the store of C, and the way that needs no hint: row by row.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/bundle/bundle_format.h"
#include "kernels/bundle/bundle_shape.h"
#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/common/store_run.cuh"

namespace shunt
{
namespace bundle
{

constexpr int kGroup = SHUNT_BUNDLE_ROWS;
constexpr int kMostWarpsLog2 = 3;          // of a block
constexpr int kChunk = SHUNT_BUNDLE_CHUNK; // one a lane
constexpr int kEach = 4;                   // vectors that a lane takes at once: rows of B under way
constexpr int kLeastLanesLog2 = SHUNT_BUNDLE_LEAST_LANES_LOG2;
constexpr unsigned kAll = 0xffffffffu;

// Of a block, unless slices or long groups take 8.
template <class T>
constexpr int kWarpsLog2 = sizeof(T) == 4 ? SHUNT_BUNDLE_BLOCK_LOG2_F32
                                          : SHUNT_BUNDLE_BLOCK_LOG2_F64;

// T: f32 or f64, of A, B, C and of sums.
template <class T> struct arguments {
  const void *offsets, *columns;
  const T *values;
  uint32_t index_bytes; // 4, or 8 of which the low 4 are read: all fit
  int base;
  int rows, groups, n;
  const char *b; // row-major
  uint32_t b_row_bytes;
  T *c;
  int64_t c_row_stride, c_col_stride;
  bool c_wide; // row-major and aligned: stored V elements at once
  scalar_arg<T> alpha, beta;
  shunt_bundle hint;
  int lanes_log2, slices_log2, long_lanes_log2;
  int warps_log2;                  // of a block
  uint32_t long_slots, long_tiles; // long blocks: slots x tiles, the first of the grid
  uint32_t group_blocks;           // of each tile
  int warp_bytes;                  // of shared memory
};

// The low word of element i of an index array.  One multiplication, no 64-bit shifts.
__device__ __forceinline__ const int *low_word(const void *array, uint32_t i, uint32_t index_bytes)
{
  return reinterpret_cast<const int *>(static_cast<const char *>(array) +
                                       static_cast<uint64_t>(i) * index_bytes);
}
__device__ __forceinline__ int load_low(const void *array, uint32_t i, uint32_t index_bytes)
{
  return __ldg(low_word(array, i, index_bytes));
}

// The lanes of a warp: parts of 2^lanes_log2 lanes, each with V columns of C; the parts take
// different rows of B.
//
//     lane     | 0 .. lanes-1 | lanes .. 2 lanes-1 | ...
//     part     |      0       |         1          |
template <class T, int V> struct lane_place {
  int lanes_log2, tile_column; // the tile's first
  const char *b;               // element column() of row 0 of B
  uint32_t row_bytes;

  // Lanes beyond the last column repeat their part's first: no branches, no stores.
  __device__ __forceinline__ lane_place(const arguments<T> &a, uint32_t tile, int log2)
      : lanes_log2(log2), tile_column(static_cast<int>(tile) * (V << log2))
  {
    const int first = inside(a) ? column() : tile_column;
    b = a.b + first * static_cast<int64_t>(sizeof(T));
    row_bytes = a.b_row_bytes;
    asm("" : "+l"(b), "+r"(row_bytes)); // else the terms are added again for every row loaded
    asm("" : "+r"(tile_column));        // else column() and inside() are kept from here on
  }
  __device__ __forceinline__ int part() const { return threadIdx.x % 32 >> lanes_log2; }
  __device__ __forceinline__ int column() const
  {
    return tile_column + (threadIdx.x & ((1 << lanes_log2) - 1)) * V;
  }
  // Has a column of C.
  __device__ __forceinline__ bool inside(const arguments<T> &a) const { return column() < a.n; }
  // The lane's part of a row of B.
  __device__ __forceinline__ const char *row(uint32_t number) const
  {
    return b + static_cast<uint64_t>(number) * row_bytes;
  }
  __device__ __forceinline__ vec<T, V> load(uint32_t number) const
  {
    const char *from = row(number);
    vec<T, V> x;
    if constexpr (V * sizeof(T) == 16) {
      const uint4 bits = __ldg(reinterpret_cast<const uint4 *>(from));
      x = *reinterpret_cast<const vec<T, V> *>(&bits);
    } else {
      static_assert(V == 1, "");
      x.at[0] = __ldg(reinterpret_cast<const T *>(from));
    }
    return x;
  }
};

// C(row, column + i) = alpha sum[i] + beta C(row, column + i), i < V, i < n - column.
template <class T, int V>
__device__ __forceinline__ void store_run(const arguments<T> &a, T alpha, T beta, int row,
                                          int column, const T (&sum)[V])
{
  T *c = a.c + row * a.c_row_stride + column * a.c_col_stride;
  shunt::store_run<V>(c, a.c_col_stride, a.n - column, a.c_wide, alpha, beta, sum);
}

// One row by one warp, as A has it: the parts take an entry each, and their sums are added at
// the end.  Nothing of B is read but the rows that A names.
template <class T, int V>
__device__ __forceinline__ void multiply_row(const arguments<T> &a, const lane_place<T, V> &l,
                                             int row)
{
  const int lane = threadIdx.x % 32, parts = 32 >> l.lanes_log2;
  const int begin = load_low(a.offsets, row, a.index_bytes) - a.base;
  const int end = load_low(a.offsets, row + 1, a.index_bytes) - a.base;
  T sum[V] = {};

  for (int e0 = begin; e0 < end; e0 += 32) {
    const int count = min(32, end - e0);
    int my_index = 0;
    T my_value = T(0);
    if (lane < count) {
      my_index = load_low(a.columns, e0 + lane, a.index_bytes) - a.base;
      my_value = __ldg(a.values + e0 + lane);
    }
    for (int e = 0; e < count; e += parts * kEach) {
      vec<T, V> x[kEach];
      T value[kEach];
#pragma unroll
      for (int u = 0; u < kEach; u++) {
        const int from = e + u * parts + l.part();
        const uint32_t index = __shfl_sync(kAll, my_index, from & 31);
        value[u] = __shfl_sync(kAll, my_value, from & 31);
        x[u] = {};
        if (from < count)
          x[u] = l.load(index);
        else
          value[u] = T(0);
      }
#pragma unroll
      for (int u = 0; u < kEach; u++)
#pragma unroll
        for (int k = 0; k < V; k++) sum[k] = multiply_add(value[u], x[u].at[k], sum[k]);
    }
  }
  for (int apart = 1 << l.lanes_log2; apart < 32; apart *= 2)
#pragma unroll
    for (int k = 0; k < V; k++) sum[k] += __shfl_xor_sync(kAll, sum[k], apart);
  if (l.part() == 0 && l.inside(a))
    store_run<T, V>(a, a.alpha.get(), a.beta.get(), row, l.column(), sum);
}

} // namespace bundle
} // namespace shunt
