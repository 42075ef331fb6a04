// bundle_spmm_mma.cuh: sums of a group of f64 by mma.m16n8k8: 8 rows of A times 16 Tiles
// columns.
//
// Operands swapped, so that 8 rows of A waste nothing:
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 8 vectors] A^T[8 x 8]
//
// Lane l, g = l / 4, t = l % 4, multiplies columns 2g, 2g + 1 of B's rows of vectors t and t + 4,
// 16 bytes each: rows g and g + 8 of B^T are columns 2g and 2g + 1.
//
//     a[0], a[1] = vector t of columns 2g, 2g + 1       a[2], a[3] = vector t + 4
//     d[0], d[2] = columns 2g, 2g + 1 of row 2t of A    d[1], d[3] = of row 2t + 1
//
//     ring[slot][vector of the step]   16 Tiles columns, 32 bytes of padding
//
// Eight lanes bring 128 bytes of one row: read as they are multiplied, four rows to eight lanes,
// they would be four times as many lines to L1.  The padding puts the four rows that eight lanes
// then read on different banks.
//
// values[] lies as the mma wants its B operand, 16 bytes a lane and 8 vectors:
//
//     values[vector / 8][lane][0, 1] = row g of vectors t, t + 4
//
// but with rows 2i and 2i + 1 exchanged in every other eight, so that 32 vectors of one row, which
// are written at once, stand on all banks.
//
// An FMA in f64 takes two turns of a scheduler; here 8 x 16 x 8 of them are one instruction, and
// what is left is what staging A takes.  Sums are IEEE f64, rounded once an FMA as elsewhere.
#pragma once
#include "kernels/bundle/bundle_spmm_walk.cuh"
#include "kernels/ptx/mma_f64.cuh"

namespace shunt
{
namespace bundle
{

constexpr int kMmaLanesLog2 = SHUNT_BUNDLE_MMA_LANES_LOG2; // one tile of 16

template <int Tiles> struct mma_sums {
  static constexpr int kRow = 8;
  static constexpr int kEights = Tiles == 1 ? 2 : 1; // of vectors a step: 2 KB of B, 4 of 4 tiles
  static constexpr int kPitch = Tiles * 128 + 32;    // bytes from one vector to the next
  // Long groups have one tile in the memory of two or four.
  static constexpr int kSlot = Tiles == 2 ? 16 * (128 + 32) : kEights * 8 * kPitch;
  static constexpr int kRing = 2 * kSlot;
  int column;    // of the first pair that the lane multiplies
  int brought;   // and of the first that it brings
  int n;         // columns of C
  const char *b; // the latter in row 0 of B; of tile i: 128 i bytes on
  uint32_t row_bytes;
  unsigned char *ring; // the warp's
  double d[Tiles][4];

  static __device__ __forceinline__ int row(int r, int vector)
  {
    return (r ^ (vector / 8 & 1)) * kRow;
  }
  static __device__ __forceinline__ int place(int vector)
  {
    return (vector / 8 * 32 + vector % 4) * 2 + vector / 4 % 2;
  }

  __device__ __forceinline__ mma_sums(const arguments<double> &a, const lane_place<double, 2> &l,
                                      unsigned char *warps_ring)
      : n(a.n), row_bytes(l.row_bytes), ring(warps_ring), d{}
  {
    const int lane = threadIdx.x % 32;
    column = l.tile_column + lane / 4 * 2;
    brought = l.tile_column + lane % 8 * 2;
    b = a.b + brought * static_cast<int64_t>(sizeof(double));
    asm("" : "+l"(b)); // else its terms are added again for every row read
  }

  __device__ __forceinline__ int step() const { return 8 * kEights; }

  // Zeros beyond the last column: no address is beyond the row's end.
  __device__ __forceinline__ void read(const uint32_t *columns, int slot)
  {
    const int lane = threadIdx.x % 32;
    const uint32_t to =
        ptx::shared_address(ring) + slot * kSlot + lane / 8 * kPitch + lane % 8 * 16;
#pragma unroll
    for (int four = 0; four < 2 * kEights; four++) {
      const char *row = b + static_cast<uint64_t>(columns[4 * four + lane / 8]) * row_bytes;
#pragma unroll
      for (int i = 0; i < Tiles; i++)
        ptx::cp_async_word<16>(to + four * 4 * kPitch + 128 * i, row + 128 * i,
                               brought + 16 * i < n);
    }
  }

  __device__ __forceinline__ void multiply(const double *values, int slot)
  {
    const int lane = threadIdx.x % 32;
    const unsigned char *from = ring + slot * kSlot + lane % 4 * kPitch + lane / 4 * 16;
#pragma unroll
    for (int j = 0; j < kEights; j++) {
      const int odd = kEights == 1 ? slot : j; // steps of one eight take the slots in turns
      const double2 two =
          *reinterpret_cast<const double2 *>(values + 8 * j * kGroup + (lane * 2 ^ odd * kRow));
      const double value[2] = {two.x, two.y};
#pragma unroll
      for (int i = 0; i < Tiles; i++) {
        const unsigned char *at = from + 8 * j * kPitch + 128 * i;
        const double2 low = *reinterpret_cast<const double2 *>(at);
        const double2 high = *reinterpret_cast<const double2 *>(at + 4 * kPitch);
        const double pairs[4] = {low.x, low.y, high.x, high.y};
        ptx::mma_m16n8k8_f64(d[i], pairs, value);
      }
    }
  }

  __device__ __forceinline__ void finish() {}

  __device__ __forceinline__ bool has_nan(const arguments<double> &a) const
  {
    bool nan = false;
#pragma unroll
    for (int i = 0; i < Tiles; i++)
#pragma unroll
      for (int k = 0; k < 4; k++) nan |= column + 16 * i + k / 2 < a.n && d[i][k] != d[i][k];
    return __any_sync(kAll, nan);
  }

  __device__ __forceinline__ void store(const arguments<double> &a, int group) const
  {
    const int row0 = group * kGroup + threadIdx.x % 4 * 2;
    const double alpha = a.alpha.get(), beta = a.beta.get();
#pragma unroll
    for (int i = 0; i < Tiles; i++)
#pragma unroll
      for (int r = 0; r < 2; r++) {
        const double pair[2] = {d[i][r], d[i][r + 2]};
        if (column + 16 * i < a.n && row0 + r < a.rows)
          store_run<double, 2>(a, alpha, beta, row0 + r, column + 16 * i, pair);
      }
  }

  __device__ __forceinline__ void write_image(double *image, int pitch) const
  {
    const int lane = threadIdx.x % 32;
    double *to = image + lane % 4 * 2 * pitch + lane / 4 * 2;
#pragma unroll
    for (int i = 0; i < Tiles; i++)
#pragma unroll
      for (int r = 0; r < 2; r++)
        *reinterpret_cast<double2 *>(to + r * pitch + 16 * i) = make_double2(d[i][r], d[i][r + 2]);
  }
};

} // namespace bundle
} // namespace shunt
