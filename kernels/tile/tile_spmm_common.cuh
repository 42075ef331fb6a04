// tile_spmm_common.cuh: arguments of the kernels over the `tile` format, its instructions
// by type, and the store of C with the repair of sums that became NaN.
//
// Zeros that fill tiles up are multiplied like any value: 0 x NaN and 0 x Inf are NaN, and a
// sum never recovers from one.  So a thread that would store a NaN computes that sum again from the
// block row's entries alone, as `present` names them.  If the NaN was right it comes again.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/common/mma_of.cuh"
#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/ptx/mma_sparse.cuh"
#include "kernels/tile/tile_format.h"

namespace shunt
{
namespace tile
{

constexpr int kRows = SHUNT_TILE_ROWS, kStrip = SHUNT_TILE_COLS;

struct arguments {
  struct shunt_tile v;
  int rows, blocks, k, n;
  const char *b; // row-major, pointer and row_bytes multiples of 16
  int64_t b_row_bytes;
  void *c;
  int64_t c_row_stride, c_col_stride;
  bool c_pairs, c_wide; // row-major and aligned: stored by two elements, by 16 bytes
  scalar_arg<float> alpha, beta;
  int split;       // blocked: blocks, a cluster, that share the chunks of one part of C
  bool next_waits; // as in shunt_spmm
};

template <class T> struct sparse_mma_of;
template <> struct sparse_mma_of<__half> {
  static __device__ __forceinline__ void run(float (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[4], uint32_t metadata)
  {
    ptx::mma_sp_m16n8k32_f16(d, a, b, metadata);
  }
};
template <> struct sparse_mma_of<__nv_bfloat16> {
  static __device__ __forceinline__ void run(float (&d)[4], const uint32_t (&a)[4],
                                             const uint32_t (&b)[4], uint32_t metadata)
  {
    ptx::mma_sp_m16n8k32_bf16(d, a, b, metadata);
  }
};

// Adds what the entries of row r of one 2:4 tile (Sparse) or half a dense one contribute.
template <class T, bool Sparse>
__device__ __forceinline__ float add_entries(const arguments &p, int64_t tile, int r, const char *b,
                                             float sum)
{
  const struct shunt_tile_list &list = Sparse ? p.v.sparse : p.v.dense;
  const T *values = reinterpret_cast<const T *>(list.values) + tile * SHUNT_TILE_VALUES;
  constexpr int kColumns = Sparse ? kStrip : kStrip / 2;
  const int64_t first = list.gather ? 0 : static_cast<int64_t>(list.column[tile]) * kColumns;
  for (int i = 0; i < kRows * 2; i++) { // the eight values of each of four lanes, half of them r's
    const int lane = r % 8 * 4 + i / 8, which = i % 8;
    if (shunt_tile_row(lane, which) != r) continue;
    if (!(list.present[tile * 32 + lane] >> which & 1)) continue;
    int place = shunt_tile_column(lane, which);
    if (Sparse) {
      const int quad = shunt_tile_quad(lane, which);
      const uint32_t word = p.v.metadata[tile * SHUNT_TILE_WORDS + r % 8 * 2 + quad / 4];
      place = quad * 4 + (word >> (r / 8 * 16 + quad % 4 * 4 + which % 2 * 2) & 3);
      if (p.v.order) place = p.v.order[tile * kStrip + place];
    }
    if (list.gather) place = list.gather[tile * kColumns + place];
    const T *row_of_b = reinterpret_cast<const T *>(b + (first + place) * p.b_row_bytes);
    sum = fmaf(widen<float>(values[lane * 8 + which]), widen<float>(*row_of_b), sum);
  }
  return sum;
}

// The sum of one element of A B over A's entries alone.
template <class T>
__device__ __noinline__ float exact_sum(const arguments &p, int64_t row, int column)
{
  const int64_t block = row / kRows;
  const int r = static_cast<int>(row % kRows);
  const char *b = p.b + static_cast<int64_t>(column) * sizeof(T);
  float sum = 0.0f;
  // A sum that is NaN stays so: with B full of them, one tile tells.
  for (int64_t i = p.v.sparse.begin[block]; i < p.v.sparse.begin[block + 1] && sum == sum; i++)
    sum = add_entries<T, true>(p, i, r, b, sum);
  for (int64_t i = p.v.dense.begin[block]; i < p.v.dense.begin[block + 1] && sum == sum; i++)
    sum = add_entries<T, false>(p, i, r, b, sum);
  return sum;
}

// C(row, column + i) = alpha v[i] + beta C(row, column + i), i < Count, column + i < n.
// aligned: C is row-major and the run starts at a multiple of its size.
template <class T, class Out, int Count>
__device__ __forceinline__ void store_run(const arguments &p, bool aligned, float alpha, float beta,
                                          int64_t row, int column, float (&v)[Count])
{
  using run = vec<Out, Count>;
  Out *c = static_cast<Out *>(p.c) + row * p.c_row_stride + column * p.c_col_stride;
  const bool whole = aligned && column + Count <= p.n;
  run old = {};
#pragma unroll
  for (int i = 0; i < Count; i++)
    if (v[i] != v[i] && column + i < p.n) v[i] = exact_sum<T>(p, row, column + i);
  if (whole && beta != 0.0f) old = *reinterpret_cast<const run *>(c);
#pragma unroll
  for (int i = 0; i < Count; i++) {
    if (column + i >= p.n) break;
    float x = scale(alpha, v[i]);
    if (!whole && beta != 0.0f) old.at[i] = c[i * p.c_col_stride];
    if (beta != 0.0f) x = fmaf(beta, widen<float>(old.at[i]), x);
    old.at[i] = narrow<Out>(x);
    if (!whole) c[i * p.c_col_stride] = old.at[i];
  }
  if (whole) *reinterpret_cast<run *>(c) = old;
}

} // namespace tile
} // namespace shunt
