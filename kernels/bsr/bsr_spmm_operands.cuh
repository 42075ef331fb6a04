// bsr_spmm_operands.cuh: what the kernels over square blocks share: arguments, the lists of
// blocks, and the store of C.
//
// A block of threads is 8 warps, of which 2^log2_slices share a row of blocks, and as many such
// sets as there are up to 2^log2_tiles neighbouring tiles of columns of one row:
//
//     warp    0      1      2      3      4      5      6      7       log2_slices, log2_tiles = 1
//     row     r                           r + 1
//     tile    t             t + 1         t             t + 1
//     slice   0      1      0      1      0      1      0      1
//
// A kernel leaves its sums as an image in shared memory; images of the slices of one row are added
// in order, so the bits never vary, and stored.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/common/store_run.cuh"

namespace shunt
{
namespace bsr
{

constexpr int kWarps = 8;

struct operands {
  const void *row_offsets; // NULL: Blocked-ELL
  const void *columns;
  const char *values;
  int64_t wide;        // of Blocked-ELL
  int64_t block_pitch; // elements from a block to the next of its row
  int64_t row_pitch;   // and from a row to the next in a block
  int base;
  bool index_wide;
  int rows_of_blocks, n;
  const char *b; // row-major, pointer and row_bytes multiples of 16, whole pieces
  uint32_t b_row_bytes;
  void *c;
  int64_t c_row_stride, c_col_stride;
  bool c_f32, c_pieces; // pieces: row-major and aligned: stored by 16 bytes
  int log2_slices, log2_tiles;

  __device__ __forceinline__ int64_t index(const void *array, int64_t i) const
  {
    return index_wide ? __ldg(static_cast<const long long *>(array) + i)
                      : __ldg(static_cast<const int *>(array) + i);
  }
};
template <class S> struct arguments : operands { // S: the compute type
  scalar_arg<S> alpha, beta;
};

// A warp's place in the picture above; `units` parts of a row of blocks are rows of their own.
struct place {
  int slice, row, column0;
  bool inside;

  __device__ __forceinline__ place(const operands &p, int tile, int units)
  {
    const int warp = threadIdx.x / 32, log2_shared = p.log2_slices + p.log2_tiles;
    const int t = warp >> p.log2_slices & ((1 << p.log2_tiles) - 1);
    slice = warp & ((1 << p.log2_slices) - 1);
    row = blockIdx.x * (kWarps >> log2_shared) + (warp >> log2_shared);
    column0 = ((blockIdx.y << p.log2_tiles) + t) * tile;
    inside = row < p.rows_of_blocks * units && column0 < p.n;
  }
};

inline dim3 grid_of(const operands &p, int tile, int units)
{
  const int rows = kWarps >> (p.log2_slices + p.log2_tiles), columns = tile << p.log2_tiles;
  return dim3((p.rows_of_blocks * units + rows - 1) / rows, (p.n + columns - 1) / columns);
}

// The blocks of a row that a slice takes, and where its values start: block i of the list has them
// `origin` + i * block_pitch elements from the start.
struct list {
  int64_t first, origin;
  int count;

  __device__ __forceinline__ list(const operands &p, int row, int slice, int size)
      : first(0), origin(0), count(0)
  {
    int64_t begin = row * p.wide, end = begin + p.wide;
    if (p.row_offsets) {
      begin = p.index(p.row_offsets, row) - p.base;
      end = p.index(p.row_offsets, row + 1) - p.base;
    } else {
      origin = begin * size * (size - 1); // rows above it, less what begin * block_pitch adds
    }
    const int64_t all = end - begin;
    first = begin + (all * slice >> p.log2_slices);
    count = static_cast<int>(begin + (all * (slice + 1) >> p.log2_slices) - first);
    origin += first * p.block_pitch;
  }
  // Of block i; -1: there is none.
  __device__ __forceinline__ int column(const operands &p, int i) const
  {
    if (i >= count) return -1;
    const int64_t at = p.index(p.columns, first + i);
    return at < 0 ? -1 : static_cast<int>(at - p.base);
  }
};

// All warps of a row have written their images.
__device__ __forceinline__ void images_written(const operands &p)
{
  if (p.log2_slices == 0)
    __syncwarp();
  else
    __syncthreads();
}

// C(row, column + i) = alpha v[i] + beta C(row, column + i), i < Count, i < n - column.  As cuSPARSE has
// it for blocks, 0 x NaN is NaN.
template <class S, class Out, int Count>
__device__ __forceinline__ void store_run(const arguments<S> &p, int64_t row, int column,
                                          const S (&v)[Count])
{
  const S alpha = p.alpha.get(), beta = p.beta.get();
  Out *c = static_cast<Out *>(p.c) + row * p.c_row_stride + column * p.c_col_stride;
  S x[Count];
#pragma unroll
  for (int i = 0; i < Count; i++) x[i] = multiply(alpha, v[i]);
  shunt::store_run<16 / sizeof(Out)>(c, p.c_col_stride, p.n - column, true, S(1), beta, x);
}

// The sums of the images of all slices, Rows x Tile of rows Pitch apart and images Apart, added in
// order, to C from row0 on; by all warps of the row, of which this is number `slice`.
template <int Rows, int Tile, int Pitch, int Apart, class Out, class S>
__device__ __forceinline__ void store(const arguments<S> &p, const S *images, int slice,
                                      int64_t row0, int column0)
{
  constexpr int kWide = 16 / sizeof(Out), kRuns = Tile / kWide, kAtOnce = 16 / sizeof(S);
  static_assert(Pitch % kAtOnce == 0 && Apart % kAtOnce == 0 && kWide % kAtOnce == 0, "pieces");
  const int slices = 1 << p.log2_slices;
  const int start = slice * 32 + threadIdx.x % 32, stride = slices * 32;
  if (p.c_pieces) {
    for (int i = start; i < Rows * kRuns; i += stride) {
      const int down = i / kRuns, column = i % kRuns * kWide;
      S v[kWide] = {};
      for (int s = 0; s < slices; s++) {
        const S *from = images + s * Apart + down * Pitch + column;
#pragma unroll
        for (int j = 0; j < kWide; j += kAtOnce) {
          const vec<S, kAtOnce> x = *reinterpret_cast<const vec<S, kAtOnce> *>(from + j);
#pragma unroll
          for (int e = 0; e < kAtOnce; e++) v[j + e] += x.at[e];
        }
      }
      if (column0 + column < p.n) store_run<S, Out>(p, row0 + down, column0 + column, v);
    }
    return;
  }
  // Neighbouring lanes on neighbouring elements, whichever way C runs.
  for (int i = start; i < Rows * Tile; i += stride) {
    const int down = p.c_row_stride == 1 ? i % Rows : i / Tile;
    const int column = p.c_row_stride == 1 ? i / Rows : i % Tile;
    S v[1] = {};
    for (int s = 0; s < slices; s++) v[0] += images[s * Apart + down * Pitch + column];
    if (column0 + column < p.n) store_run<S, Out>(p, row0 + down, column0 + column, v);
  }
}

cudaError_t launch_f16(const arguments<float> &p, int size, int tile, cudaStream_t stream);
cudaError_t launch_bf16(const arguments<float> &p, int size, int tile, cudaStream_t stream);
cudaError_t launch_f32(const arguments<float> &p, int size, int tile, cudaStream_t stream);
cudaError_t launch_i8(const arguments<int32_t> &p, int size, int tile, cudaStream_t stream);
cudaError_t launch_i8(const arguments<float> &p, int size, int tile, cudaStream_t stream);
cudaError_t launch_f64(const arguments<double> &p, int size, int tile, cudaStream_t stream);

} // namespace bsr
} // namespace shunt
