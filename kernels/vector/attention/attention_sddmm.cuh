// attention_sddmm.cuh: S = alpha Q K^T at the positions of a pattern in the `vector` format.
//
// A warp takes a group of 8 rows of Q, or a slice of the group's steps, and computes two steps at
// a time, 32 slots, so that what it loads of Q serves two.  The order of c inside a dot product is
// free as long as both operands agree: lane (g, t) holds 16 bytes, c = 32 i + 8 t .. + 7, of its
// rows, which make two mma:
//
//   16 bytes of lane t     | w0 | w1 | w2 | w3 |      two elements each
//   first mma                w0   w1                  as (2t, 2t+1), (2t+8, 2t+9)
//   second mma                         w2   w3
//
//   A, 16 x 16: slots g and g + 8, rows of K      B, 16 x 8: row g of Q
//
// The result goes to the format's order (attention_common.cuh) and 256 bytes a step are
// stored.  What lies behind the d-th element is never multiplied, it is replaced by zeros; places
// not in the pattern are replaced after the product, so nothing of other rows shows.
//
// Roofline: bytes gathered from L2, 16 x steps x d x 2 for each problem, beside which Q (rows x d x
// 2 for every slice) and the result (256 bytes a step) are small; no sharing of K among groups but
// by L1.
#pragma once
#include "kernels/vector/attention/attention_common.cuh"

namespace shunt
{
namespace vector
{

constexpr int kSddmmWarps = 4;
constexpr int kPair = 2; // steps at a time

struct sddmm_arguments {
  pattern p;
  matrices q, k;
  uint16_t *values;
  int64_t values_stride; // elements
  int heads, d, log2_slices;
  float alpha;
};

constexpr int kPiece = 8; // elements of 16 bytes

// The piece at `from`, of which only `valid` elements (maybe none) exist.
template <bool Aligned>
__device__ __forceinline__ void load_piece(uint32_t (&to)[4], const char *from, int valid)
{
  if (Aligned && valid >= kPiece) {
    load_words<4>(to, from);
    return;
  }
  vec<uint16_t, kPiece> v;
#pragma unroll
  for (int e = 0; e < kPiece; e++)
    v.at[e] = e < valid ? __ldg(reinterpret_cast<const uint16_t *>(from) + e) : 0;
  memcpy(to, &v, sizeof v);
}

// Where the rows of a lane begin: row g of Q's group, slots g and g + 8 of two steps of K.
struct sddmm_rows {
  const char *q, *k[kPair][2];
};

// d[h] += both mma of 32 elements.
template <class T>
__device__ __forceinline__ void multiply_pieces(float (&d)[kPair][4], const uint32_t (&q)[4],
                                                const uint32_t (&k)[kPair][2][4])
{
  __syncwarp(); // lanes beyond the last element have loaded another way
#pragma unroll
  for (int h = 0; h < kPair; h++) {
    mma_of<T>::run(d[h], {k[h][0][0], k[h][1][0], k[h][0][1], k[h][1][1]}, {q[0], q[1]});
    mma_of<T>::run(d[h], {k[h][0][2], k[h][1][2], k[h][0][3], k[h][1][3]}, {q[2], q[3]});
  }
}

template <class T, bool Aligned>
__device__ __forceinline__ void dot_products(float (&d)[kPair][4], const sddmm_rows &rows,
                                             int d_all, bool q_exists)
{
  const int c0 = threadIdx.x % 4 * kPiece;
#pragma unroll 2
  for (int c = c0; c - c0 < d_all; c += 4 * kPiece) {
    uint32_t q[4], k[kPair][2][4];
    load_piece<Aligned>(q, rows.q + c * 2, q_exists ? d_all - c : 0);
#pragma unroll
    for (int h = 0; h < kPair; h++)
#pragma unroll
      for (int i = 0; i < 2; i++) load_piece<Aligned>(k[h][i], rows.k[h][i] + c * 2, d_all - c);
    multiply_pieces<T>(d, q, k);
  }
}

// The scores of one step to the result.
template <class T>
__device__ __forceinline__ void store_scores(const sddmm_arguments &a, int z, uint32_t step,
                                             float (&d)[4])
{
  const int t = threadIdx.x % 4;
  uint32_t masks[2];
  load_masks(masks, a.p, step);
#pragma unroll
  for (int i = 0; i < 4; i++)
    d[i] = masks[i / 2] >> (2 * t + i % 2) & 1 ? scale(a.alpha, d[i]) : 0.0f;
  uint2 *to = reinterpret_cast<uint2 *>(a.values + z * a.values_stride);
  to[uint64_t(step) * 32 + threadIdx.x % 32] = to_format<T>(d);
}

template <class T, bool Aligned>
__global__ void __launch_bounds__(kSddmmWarps * 32)
    sddmm_vector(const __grid_constant__ sddmm_arguments a)
{
  const int warp = blockIdx.x * kSddmmWarps + threadIdx.x / 32, g = threadIdx.x % 32 / 4;
  const int group = warp >> a.log2_slices, slice = warp & ((1 << a.log2_slices) - 1);
  const int z = blockIdx.y;
  if (group >= a.p.groups) return;

  const uint32_t begin = a.p.begin[group], count = a.p.count[group];
  const uint32_t first = begin + static_cast<uint32_t>(uint64_t(count) * slice >> a.log2_slices);
  const uint32_t end =
      begin + static_cast<uint32_t>(uint64_t(count) * (slice + 1) >> a.log2_slices);
  const int row = group * kGroup + g;
  const bool row_exists = row < a.p.rows;
  const char *k = a.k.of(z, a.heads);
  sddmm_rows rows;
  rows.q = a.q.of(z, a.heads) + (row_exists ? row : 0) * a.q.row;

#pragma unroll 1
  for (uint32_t step = first; step < end; step += kPair) {
    const bool both = step + 1 < end;
#pragma unroll
    for (int h = 0; h < kPair; h++) {
      // Without a second step the first one is computed twice.
      const uint32_t *columns = a.p.columns + uint64_t(both ? step + h : step) * kStep + g;
      rows.k[h][0] = k + __ldg(columns) * a.k.row;
      rows.k[h][1] = k + __ldg(columns + 8) * a.k.row;
    }
    float d[kPair][4] = {};
    dot_products<T, Aligned>(d, rows, a.d, row_exists);
    store_scores<T>(a, z, step, d[0]);
    if (both) store_scores<T>(a, z, step + 1, d[1]);
  }
}

} // namespace vector
} // namespace shunt
