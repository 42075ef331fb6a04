// dense_spmm_wgmma_store.cuh: the way of sums to C, for dense_spmm_wgmma.cuh.
//
// Sums stand in registers as wgmma leaves them (ptx/wgmma.cuh): per thread of a warpgroup two rows,
// and of each 8 columns two.  They go to shared memory as elements of C, row by row, 16 bytes
// between rows so that a warp's words fall on different banks, and from there to C in whole rows.
//
// Two warpgroups of each of `split` blocks hold parts of a tile's sums.  They leave them in their
// ring,
//
//   ring   group 0: | columns 0 .. 7: thread 0 .. 127, 16 bytes each | columns 8 .. 15 | .. |
//          group 1: | the same                                                              |
//          tile of C, as above
//
// and each block adds and stores its part of the rows, always in the same order: those of half of a
// warpgroup's warps, if split is 2.
#pragma once
#include <cuda_runtime.h>

#include "kernels/common/number.cuh"
#include "kernels/dense/dense_spmm_wgmma_frame.cuh"
#include "kernels/ptx/cluster_load.cuh"

namespace shunt
{
namespace dense
{

constexpr int kRows = 64, kDepth = 128; // of a tile; of K in a stage
constexpr int kMultiplying = 256, kMultiplyingWarps = kMultiplying / 32; // threads, warps
constexpr int kOctetBytes = 128 * 16; // the sums of a warpgroup of 8 columns

// What the kernel is told beside the maps, A, and how to repair.
struct arguments {
  int m, n, steps;         // of C; of K, kDepth each
  int tiles, tiles_across; // of C; in a row of them
  int split;               // blocks of a cluster
  void *c;
  int64_t c_row_stride, c_col_stride;
  bool wide_sums; // C is f32
  bool aligned;   // C is row-major, rows and its begin on multiples of 16 bytes
  bool trusted;   // each block looks at the first row that it stores, not one for all at C's
};

// Two neighbouring elements of a row.
template <class Out> struct alignas(2 * sizeof(Out)) element_pair {
  Out at[2];
};
template <class Out> constexpr int elements_of_16 = 16 / (int)sizeof(Out);
// Bytes from row to row of the tile of C in shared memory.
template <class Out, int Columns> constexpr int pitch_of = Columns *(int)sizeof(Out) + 16;

// Sums of one row, two columns, to the tile.
template <class Out, int Columns>
__device__ __forceinline__ void put(unsigned char *tile, int row, int column, float x, float y,
                                    float alpha)
{
  *reinterpret_cast<element_pair<Out> *>(tile + row * pitch_of<Out, Columns> +
                                         column * (int)sizeof(Out)) = {
      {narrow<Out>(scale(alpha, x)), narrow<Out>(scale(alpha, y))}};
}

// A thread's sums to the ring.
template <int Columns>
__device__ __forceinline__ void leave_sums(unsigned char *ring, const float (&d)[Columns / 2])
{
  const int group = threadIdx.x / 128 - 1;
  float4 *mine =
      reinterpret_cast<float4 *>(ring + group * (Columns / 8) * kOctetBytes) + threadIdx.x % 128;
#pragma unroll
  for (int i = 0; i < Columns / 8; i++)
    mine[i * 128] = make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]);
}

// Where the sums stand that a thread held of 8 columns: in the ring, and in the tile.
struct sum_place {
  uint32_t byte;
  int row, column;
};
// Number i of those in the rows of one part of a tile.
__device__ __forceinline__ sum_place place_sum(int i, int part, int log2_threads)
{
  const int t = (part << log2_threads) + (i & ((1 << log2_threads) - 1)), octet = i >> log2_threads;
  return {(uint32_t)(octet * kOctetBytes + t * 16), t / 32 * 16 + t % 32 / 4,
          8 * octet + t % 4 * 2};
}

// Adds the parts of a tile in the rings of `split` blocks, rank by rank, and of each block's
// warpgroups; only the rows of this block's part.  All parts of two places are read before the
// first is added: the other block's memory is far.
template <class Out, int Columns>
__device__ __forceinline__ void put_added(const arguments &p, unsigned char *tile, uint32_t ring,
                                          int part, float alpha)
{
  constexpr int kGroupBytes = Columns / 8 * kOctetBytes, kBatch = 2;
  const int log2_threads = 8 - p.split; // of a warpgroup, whose rows are this block's
  const int places = Columns / 8 << log2_threads;
  for (int first = threadIdx.x - 128; first < places; first += kBatch * kMultiplying) {
    float4 x[kBatch][4];
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      const sum_place at = place_sum(first + k * kMultiplying, part, log2_threads);
#pragma unroll
      for (int j = 0; j < 4; j++)
        x[k][j] = j / 2 < p.split ? ptx::cluster_load_4(ring + j % 2 * kGroupBytes + at.byte, j / 2)
                                  : make_float4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      const sum_place at = place_sum(first + k * kMultiplying, part, log2_threads);
      float4 sum = x[k][0];
#pragma unroll
      for (int j = 1; j < 4; j++)
        sum =
            make_float4(sum.x + x[k][j].x, sum.y + x[k][j].y, sum.z + x[k][j].z, sum.w + x[k][j].w);
      put<Out, Columns>(tile, at.row, at.column, sum.x, sum.y, alpha);
      put<Out, Columns>(tile, at.row + 8, at.column, sum.z, sum.w, alpha);
    }
  }
}

// 16 bytes of a row of the tile to C(row, column ..); true: it is to be looked at, and not finite.
template <class Out>
__device__ __forceinline__ bool store_piece(const arguments &p, const unsigned char *from,
                                            int64_t row, int64_t column, bool looks)
{
  constexpr int kElements = elements_of_16<Out>;
  const vec<Out, kElements> x = *reinterpret_cast<const vec<Out, kElements> *>(from);
  Out *c = static_cast<Out *>(p.c) + row * p.c_row_stride + column * p.c_col_stride;
  bool bad = false;
  if (looks)
    for (int e = 0; e < kElements; e++)
      bad |= column + e < p.n && !is_finite(widen<float>(x.at[e]));
  if (p.aligned && column + kElements <= p.n) {
    *reinterpret_cast<vec<Out, kElements> *>(c) = x;
  } else {
    for (int e = 0; e < kElements; e++)
      if (column + e < p.n) c[e * p.c_col_stride] = x.at[e];
  }
  return bad;
}

// The rows that put_added() has put into the tile to C, where the tile's first element is (row,
// column).  true: part of row 0 is not finite; of the part's first row where D is trusted.
template <class Out, int Columns>
__device__ __forceinline__ bool store_rows(const arguments &p, const unsigned char *tile, int row,
                                           int column, int part)
{
  constexpr int kPieces = Columns / elements_of_16<Out>; // of a row
  const int log2_rows = 7 - p.split, rows = 1 << log2_rows;
  const bool by_rows = p.c_col_stride == 1; // else a warp's pieces are of one column
  const int looked_at = p.trusted ? row + part * rows : 0;
  bool bad = false;
#pragma unroll 4
  for (int i = threadIdx.x - 128; i < rows * kPieces; i += kMultiplying) {
    const int in_tile = part * rows + (by_rows ? i / kPieces : i & (rows - 1));
    const int q = by_rows ? i % kPieces : i >> log2_rows;
    const int at = column + q * elements_of_16<Out>;
    if (row + in_tile < p.m && at < p.n)
      bad |= store_piece<Out>(p, tile + in_tile * pitch_of<Out, Columns> + q * 16, row + in_tile,
                              at, row + in_tile == looked_at);
  }
  return bad;
}

} // namespace dense
} // namespace shunt
