// vector_packed_spmm_common.cuh: what the two kernels over the `vector` format share: arguments,
// the store of C, and the repair of sums that became NaN.
//
// A kernel leaves the products of one group, 8 rows x Tile columns in f32, as an image in
// shared memory; images of slices of one group are added in order, so the bits never
// vary, and stored.
//
// Zeros that fill vectors up, and unused slots, are multiplied like any value: 0 x NaN and
// 0 x Inf are NaN, and a sum never recovers from one.  So a thread that would store a NaN computes
// that sum again from the group's entries alone, as the masks name them.  If the NaN was right it
// comes again.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/common/mma_of.cuh"
#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/common/store_run.cuh"

namespace shunt
{
namespace vector
{

constexpr int kGroup = 8, kStep = 16;

struct arguments {
  const uint32_t *row_of; // NULL: rows stand as they are
  const uint32_t *begin, *count, *strip_end, *columns;
  const uint2 *values; // [steps][32 lanes]
  const uint8_t *masks;
  int rows, groups, strips, n;
  const char *b; // row-major, pointer and row_bytes multiples of 16, n of 8
  uint32_t b_row_bytes;
  void *c;
  int64_t c_row_stride, c_col_stride;
  bool c_wide; // row-major and aligned: stored by 16 bytes
  scalar_arg<float> alpha, beta;
  int log2_slices; // direct: parts that the steps of a group are split into
  bool next_waits; // as in shunt_spmm
};

// The sum of one element of A B over A's entries alone.
template <class T>
__device__ __noinline__ float exact_sum(const arguments &p, int group, int row, int column)
{
  const T *values = reinterpret_cast<const T *>(p.values);
  const char *b = p.b + static_cast<int64_t>(column) * sizeof(T);
  const int64_t first = p.begin[group], steps = p.count[group];
  float sum = 0.0f;
  for (int64_t i = first * kStep; i < (first + steps) * kStep; i++) {
    if (!(p.masks[i] >> row & 1)) continue;
    const int slot = static_cast<int>(i % kStep);
    const int place = (row * 4 + slot % 8 / 2) * 4 + slot / 8 * 2 + slot % 2;
    const T *row_of_b =
        reinterpret_cast<const T *>(b + static_cast<uint64_t>(p.columns[i]) * p.b_row_bytes);
    sum = fmaf(widen<float>(values[i / kStep * 128 + place]), widen<float>(*row_of_b), sum);
  }
  return sum;
}

template <int Tile> struct image {
  static constexpr int kPitch = Tile + 4; // keeps rows on different banks
  static constexpr int kFloats = kGroup * kPitch;
};

// C(row, column + i) = alpha v[i] + beta C(row, column + i), i < Count, i < n - column.
// Listed: for the row of C that p.row_of says.
template <class T, class Out, bool Listed, int Count>
__device__ __forceinline__ void store_run(const arguments &p, float alpha, float beta, int group,
                                          int row, int column, float (&v)[Count])
{
  const int place = group * kGroup + row;
  const int64_t row_of_c = Listed ? __ldg(p.row_of + place) : place;
  Out *c = static_cast<Out *>(p.c) + row_of_c * p.c_row_stride + column * p.c_col_stride;
#pragma unroll
  for (int i = 0; i < Count; i++)
    if (v[i] != v[i] && column + i < p.n) v[i] = exact_sum<T>(p, group, row, column + i);
  shunt::store_run<16 / sizeof(Out)>(c, p.c_col_stride, p.n - column, true, alpha, beta, v);
}

// d[m] of a lane, of the products with columns 16m .. of the tile, g = lane / 4, t = lane % 4:
// d[m][0], d[m][1] = column 16m + g of rows 2t, 2t + 1;  d[m][2], d[m][3] = column 16m + g + 8
template <int Tile>
__device__ __forceinline__ void write_image(float *image_at, const float (&d)[Tile / 16][4])
{
  constexpr int kPitch = image<Tile>::kPitch;
  const int lane = threadIdx.x % 32;
  float *to = image_at + lane % 4 * 2 * kPitch + lane / 4;
#pragma unroll
  for (int m = 0; m < Tile / 16; m++) {
    to[16 * m] = d[m][0];
    to[16 * m + kPitch] = d[m][1];
    to[16 * m + 8] = d[m][2];
    to[16 * m + 8 + kPitch] = d[m][3];
  }
}

template <class T, class Out, int Tile, int Apart, bool Listed>
__device__ __forceinline__ void store_rows(const arguments &p, const float *images, int slices,
                                           int slice, int group, int column0)
{
  constexpr int kPitch = image<Tile>::kPitch;
  constexpr int kWide = 16 / sizeof(Out), kRuns = Tile / kWide;
  const int start = slice * 32 + threadIdx.x % 32, stride = slices * 32;
  const int rows = min(kGroup, p.rows - group * kGroup);
  const float alpha = p.alpha.get(), beta = p.beta.get();

  if (p.c_wide) {
    for (int i = start; i < rows * kRuns; i += stride) {
      const int row = i / kRuns, column = i % kRuns * kWide;
      float v[kWide] = {};
      for (int s = 0; s < slices; s++) {
        const float *from = images + s * Apart + row * kPitch + column;
#pragma unroll
        for (int j = 0; j < kWide; j += 4) {
          const float4 x = *reinterpret_cast<const float4 *>(from + j);
          v[j] += x.x, v[j + 1] += x.y, v[j + 2] += x.z, v[j + 3] += x.w;
        }
      }
      if (column0 + column < p.n)
        store_run<T, Out, Listed>(p, alpha, beta, group, row, column0 + column, v);
    }
    return;
  }
  // Neighbouring lanes on neighbouring elements, whichever way C runs.
  for (int i = start; i < rows * Tile; i += stride) {
    const int row = p.c_row_stride == 1 ? i % rows : i / Tile;
    const int column = p.c_row_stride == 1 ? i / rows : i % Tile;
    float v[1] = {};
    for (int s = 0; s < slices; s++) v[0] += images[s * Apart + row * kPitch + column];
    if (column0 + column < p.n)
      store_run<T, Out, Listed>(p, alpha, beta, group, row, column0 + column, v);
  }
}

// Sums the images of the `slices` slices of a group, Apart floats from one to the next, and
// stores its rows; called by all warps of the group, of which this is number `slice`.
template <class T, class Out, int Tile, int Apart>
__device__ __forceinline__ void store_images(const arguments &p, const float *images, int slices,
                                             int slice, int group, int column0)
{
  if (p.row_of)
    store_rows<T, Out, Tile, Apart, true>(p, images, slices, slice, group, column0);
  else
    store_rows<T, Out, Tile, Apart, false>(p, images, slices, slice, group, column0);
}

} // namespace vector
} // namespace shunt
