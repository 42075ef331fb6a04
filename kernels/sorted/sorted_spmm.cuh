// sorted_spmm.cuh: rows of A by their lengths, each times B; all but the long ones, which have a
// kernel of their own (sorted_spmm_long.cuh).
//
//   C = alpha A B + beta C
//
//   order     | huge | long .. |  wide ..  | others, by falling length ..           | empty |
//   taken by    cluster  block   w0 w1 w2    w3: 4 teams   w4: 4 teams   w5 ..
//
// A team's neighbours in its warp have rows of like lengths, so no lane waits for another's row.
//
//   grid.x    warps, 8 a block        grid.y    slices of C, of 2^lanes_log2 x V columns
//
// Rows are walked as the split kernel's are (kernels/csr/csr_spmm_split_walk.cuh).
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/csr_spmm_split_walk.cuh"
#include "kernels/sorted/sorted_kernels.h"

namespace shunt
{
namespace sorted
{

using csr::args;
using csr::batch;

constexpr int kWarps = 8; // of a block
constexpr int kThreads = 32 * kWarps;

// What the kernels read of the shape.
struct row_args {
  const uint32_t *order;
  int lanes_log2, team_log2;
  int first;                 // place of the first row that is not long
  int wide;                  // rows from there on that have a warp each
  int most_wide, most_other; // entries that these had at most, and others
  uint32_t *stale;
  bool beside; // the kernel of the long rows was launched before, and let this one in
};

// The row that the lane's team has, or -1.
template <class T>
__device__ __forceinline__ int row_of_team(const args<T> &a, const row_args &s, bool alone,
                                           int team_log2)
{
  const int warp = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  const int before = alone ? warp : s.wide + ((warp - s.wide) << (5 - s.team_log2));
  const int at = s.first + before + (lane >> team_log2);
  return at < a.rows ? (int)__ldg(s.order + at) : -1;
}

template <class S, class Out, class T, int V, int CHUNK>
__global__ void __launch_bounds__(kThreads, CHUNK == 4 ? 5 : 4)
    multiply_rows(const __grid_constant__ args<T> a, const __grid_constant__ row_args s)
{
  __shared__ __align__(16) batch<T> batches[kWarps];
  if (!s.beside) wait_for_previous();

  const bool alone = blockIdx.x * kWarps + threadIdx.x / 32 < s.wide;
  const int team_log2 = alone ? 5 : s.team_log2, lane = threadIdx.x % 32;
  const int row = row_of_team(a, s, alone, team_log2);
  const csr::lane_columns<S, V> c(a, blockIdx.y, s.lanes_log2);
  int begin = 0, end = 0;
  if (row >= 0) {
    begin = csr::load_low(a.offsets, row, a.wide, a.base);
    end = csr::load_low(a.offsets, row + 1, a.wide, a.base);
    if (s.stale && end - begin > (alone ? s.most_wide : s.most_other)) *s.stale = 1;
  }
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  T sum[V];
  csr::set_zero<T, V>(sum);
  csr::walk<false, true, S, T, V, CHUNK>(a, c.b, begin, end, team_log2, s.lanes_log2,
                                         batches[threadIdx.x / 32], sum);
  csr::add_groups<T, V>(team_log2, s.lanes_log2, sum);
  if (row >= 0 && c.active && (lane & ((1 << team_log2) - 1)) >> s.lanes_log2 == 0)
    csr::store_row<Out, T, V>(a, row, c.col, sum, scalars);

  // What follows in the stream waits for this kernel alone: so this one waits for the long rows.
  if (s.beside) wait_for_previous();
}

} // namespace sorted
} // namespace shunt
