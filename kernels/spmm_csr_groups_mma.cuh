// spmm_csr_groups_mma.cuh: sums of a group of f64 by mma.m16n8k8: 8 rows of A times 16 Tiles
// columns.
//
// Operands swapped, so that 8 rows of A waste nothing:
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 8 vectors] A^T[8 x 8]
//
// Lane l, g = l / 4, t = l % 4, loads columns 2g, 2g + 1 of B's rows of vectors t and t + 4, 16
// bytes each: rows g and g + 8 of B^T are columns 2g and 2g + 1.
//
//     a[0], a[1] = vector t of columns 2g, 2g + 1       a[2], a[3] = vector t + 4
//     d[0], d[2] = columns 2g, 2g + 1 of row 2t of A    d[1], d[3] = of row 2t + 1
//
// values[] lies as the mma wants its B operand, 16 bytes a lane and step of 8 vectors:
//
//     values[step][lane][0, 1] = row g of vectors t, t + 4
//
// An FMA in f64 takes two turns of a scheduler; here 8 x 16 x 8 of them are one instruction, and
// what is left is what staging A takes.  Sums are IEEE f64, rounded once an FMA as elsewhere.
#pragma once
#include "kernels/ptx/mma_f64.cuh"
#include "kernels/spmm_csr_groups_walk.cuh"

namespace shunt
{
namespace spmm_groups
{

constexpr int kMmaLanesLog2 = 3; // 8 lanes x 2 columns: one tile of 16

template <int Tiles> struct mma_sums {
  static constexpr int kRow = 8;
  static constexpr int kSteps = 4 / Tiles; // of 8 vectors at once: 8 loads of B in flight
  int column;                              // of the lane's first pair
  const char *b[Tiles];                    // its pairs in row 0 of B
  uint32_t row_bytes;
  double d[Tiles][4];

  static __device__ __forceinline__ int place(int vector)
  {
    return (vector / 8 * 32 + vector % 4) * 2 + vector / 4 % 2;
  }

  // Pairs beyond the last column repeat the first of the warp: no branches, no stores.
  __device__ __forceinline__ mma_sums(const arguments<double> &a, const lane_place<double, 2> &l)
      : row_bytes(l.row_bytes), d{}
  {
    const int lane = threadIdx.x % 32;
    const int first = l.column - (lane & ((1 << l.lanes_log2) - 1)) * 2;
    column = first + lane / 4 * 2;
#pragma unroll
    for (int i = 0; i < Tiles; i++) {
      const int at = column + 16 * i < a.n ? column + 16 * i : first;
      b[i] = a.b + at * static_cast<int64_t>(sizeof(double));
      asm("" : "+l"(b[i])); // else its terms are added again for every row loaded
    }
  }

  static __device__ __forceinline__ double2 load(const char *from)
  {
    return __ldg(reinterpret_cast<const double2 *>(from));
  }

  __device__ __forceinline__ void multiply(const double *values, const uint32_t *columns, int count)
  {
    const int lane = threadIdx.x % 32, t = lane % 4;
#pragma unroll 1
    for (int e = 0; e < count; e += 8 * kSteps) {
      double2 x[kSteps][Tiles][2];
#pragma unroll
      for (int j = 0; j < kSteps; j++) {
        const uint64_t low = static_cast<uint64_t>(columns[e + 8 * j + t]) * row_bytes;
        const uint64_t high = static_cast<uint64_t>(columns[e + 8 * j + t + 4]) * row_bytes;
#pragma unroll
        for (int i = 0; i < Tiles; i++) {
          x[j][i][0] = load(b[i] + low);
          x[j][i][1] = load(b[i] + high);
        }
      }
#pragma unroll
      for (int j = 0; j < kSteps; j++) {
        const double2 two =
            *reinterpret_cast<const double2 *>(values + (e + 8 * j) * kGroup + lane * 2);
        const double value[2] = {two.x, two.y};
#pragma unroll
        for (int i = 0; i < Tiles; i++) {
          const double pairs[4] = {x[j][i][0].x, x[j][i][0].y, x[j][i][1].x, x[j][i][1].y};
          ptx::mma_m16n8k8_f64(d[i], pairs, value);
        }
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
      for (int k = 0; k < 4; k++)
        nan |= column + 16 * i + k / 2 < a.n && d[i][k] != d[i][k];
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

} // namespace spmm_groups
} // namespace shunt
