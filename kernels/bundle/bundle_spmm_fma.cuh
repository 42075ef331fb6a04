// bundle_spmm_fma.cuh: sums of a group by FMA: 8 rows of A times V columns a lane.
//
//   values[row][vector], 8 x 64: in a step part p of the warp takes vectors 4 p .. 4 p + 3 (of 4
//   lanes: 2 p, 2 p + 1), by one read of their columns, 4 rows of B and 8 x 4 values by broadcast,
//   and multiplies 32 V times (half of all that).
//
//   ring[slot][u][lane], V elements each: vector u of the lane's in the step.
#pragma once
#include "kernels/bundle/bundle_spmm_walk.cuh"

namespace shunt
{
namespace bundle
{

// Each: vectors that a lane takes at once, 4; of 4 lanes a row of B 2, so that a step is no whole
// chunk.
template <class T, int V, int Each> struct fma_sums {
  static constexpr int kRow = kStaged;
  static constexpr int kRead = V * static_cast<int>(sizeof(T)); // bytes of a row of B of a lane
  static constexpr int kRing = 2 * Each * 32 * kRead;           // bytes
  static constexpr int kWide = 16 / static_cast<int>(sizeof(T)) < Each ? 16 / sizeof(T) : Each;
  const lane_place<T, V> &l;
  unsigned char *ring; // the lane's
  T sum[kGroup][V];
  int first; // after finish(): the row of the group that sum[0] is of

  static __device__ __forceinline__ int row(int r, int) { return r * kRow; }
  static __device__ __forceinline__ int place(int vector) { return vector; }

  __device__ __forceinline__ fma_sums(const arguments<T> &, const lane_place<T, V> &at,
                                      unsigned char *warps_ring)
      : l(at), ring(warps_ring + threadIdx.x % 32 * kRead), sum{}, first(0)
  {
  }

  __device__ __forceinline__ int step() const { return Each * 32 >> l.lanes_log2; }

  __device__ __forceinline__ void read(const uint32_t *columns, int slot)
  {
    const uint32_t to = ptx::shared_address(ring) + slot * (kRing / 2);
    const vec<uint32_t, Each> column =
        *reinterpret_cast<const vec<uint32_t, Each> *>(columns + l.part() * Each);
#pragma unroll
    for (int u = 0; u < Each; u++)
      ptx::cp_async_word<kRead>(to + u * 32 * kRead, l.row(column.at[u]), 1);
  }

  __device__ __forceinline__ void multiply(const T *values, int slot)
  {
    const unsigned char *from = ring + slot * (kRing / 2);
    values += l.part() * Each;
    vec<T, V> x[Each];
#pragma unroll
    for (int u = 0; u < Each; u++)
      x[u] = *reinterpret_cast<const vec<T, V> *>(from + u * 32 * kRead);
#pragma unroll
    for (int r = 0; r < kGroup; r++) {
      vec<T, kWide> value[Each / kWide];
#pragma unroll
      for (int j = 0; j < Each / kWide; j++)
        value[j] = *reinterpret_cast<const vec<T, kWide> *>(values + r * kRow + j * kWide);
#pragma unroll
      for (int u = 0; u < Each; u++)
#pragma unroll
        for (int k = 0; k < V; k++)
          sum[r][k] = multiply_add(value[u / kWide].at[u % kWide], x[u].at[k], sum[r][k]);
    }
  }

  // Adds the parts' sums, rows spread over the parts: the lane then has rows() of them in sum[0
  // ..].  A fixed order: the nearest part first.
  //
  //   rows of part    0    1    2    3          8 parts: 0, 4, 2, 6, 1, 5, 3, 7
  //   1 part         0-7
  //   2 parts        0-3  4-7
  //   4 parts        0-1  4-5  2-3  6-7
  __device__ __forceinline__ void finish()
  {
    halve<4>(0);
    halve<2>(1);
    halve<1>(2);
  }
  template <int Rows> __device__ __forceinline__ void halve(int bit)
  {
    const int apart = 1 << l.lanes_log2 << bit;
    if (apart >= 32) return;
    const bool upper = l.part() >> bit & 1;
#pragma unroll
    for (int r = 0; r < Rows; r++)
#pragma unroll
      for (int k = 0; k < V; k++) {
        const T give = upper ? sum[r][k] : sum[r + Rows][k];
        const T keep = upper ? sum[r + Rows][k] : sum[r][k];
        sum[r][k] = keep + __shfl_xor_sync(kAll, give, apart);
      }
    if (upper) first += Rows;
  }
  __device__ __forceinline__ int rows() const
  {
    return kGroup >> (5 - l.lanes_log2);
  }

  // Whether a sum of a column of C is a NaN; all lanes, after finish().
  __device__ __forceinline__ bool has_nan(const arguments<T> &a) const
  {
    bool nan = false;
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      if (r < rows())
#pragma unroll
        for (int k = 0; k < V; k++) nan |= l.column() + k < a.n && sum[r][k] != sum[r][k];
    return __any_sync(kAll, nan);
  }

  __device__ __forceinline__ void store(const arguments<T> &a, int group) const
  {
    const int row0 = group * kGroup + first;
    const T alpha = a.alpha.get(), beta = a.beta.get();
    if (!l.inside(a)) return;
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      if (r < rows() && row0 + r < a.rows)
        store_run<T, V>(a, alpha, beta, row0 + r, l.column(), sum[r]);
  }

  // The tile's sums as 8 rows, `pitch` apart.
  __device__ __forceinline__ void write_image(T *image, int pitch) const
  {
    const int in_part = threadIdx.x & ((1 << l.lanes_log2) - 1);
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      if (r < rows()) {
        vec<T, V> out;
#pragma unroll
        for (int k = 0; k < V; k++) out.at[k] = sum[r][k];
        *reinterpret_cast<vec<T, V> *>(image + (first + r) * pitch + in_part * V) = out;
      }
  }
};

} // namespace bundle
} // namespace shunt
