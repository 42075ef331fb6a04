// sorted_spmm.cuh: rows of A by their lengths, each times B; all but the long ones, which have a
// kernel of their own (sorted_spmm_long.cuh).
//
//   C = alpha A B + beta C
//
//   order     | huge | long .. |  wide ..  | others, by falling length ..   | short .. empty |
//   taken by    cluster  block   w0 w1 w2    w5: 4 teams   w6: 4 teams ..     w3: lists  w4 ..
//
// A team's neighbours in its warp have rows of like lengths, so no lane waits for another's row.
// Warps that take long come first: those of wide rows, then lists (sorted_spmm_short.cuh).
//
//   grid.x    warps, 8 a block        grid.y    slices of C, of 2^lanes_log2 x V columns, or 2 x that
//
// Rows are walked as the split kernel's are (kernels/csr/split/csr_spmm_split_walk.cuh).
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/split/csr_spmm_split_words.cuh"
#include "kernels/sorted/sorted_kernels.h"

namespace shunt
{
namespace sorted
{

using csr::args;
using csr::batch;

constexpr int kWarps = 8; // of a block
constexpr int kThreads = 32 * kWarps;

constexpr int kLevels = 3; // of short rows

// Rows of a level: places [first, end), by warps from first_warp on.
struct list_level {
  int first, end, first_warp;
};

// What the kernels read of the shape.
struct row_args {
  const uint32_t *order;
  int lanes_log2, team_log2;
  int first, wide, end;      // places: from `first` on `wide` rows have a warp each, others until
                             // `end` a team each, and those behind are short
  int most_wide, most_other; // entries that these had at most, and others
  int levels, list_warps;    // of the short rows; their warps come behind those of wide rows
  int spread;                // lanes of a short row: 2^spread times as many as it needs
  list_level level[kLevels];
  uint32_t *stale;
  bool beside; // the kernel of the long rows was launched before, and let this one in
};

// Rows that have a warp or a team each.  Columns: of a lane, one word or two.
template <class Columns, class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_own_rows(const args<T> &a, const row_args &s, int warp,
                                                  batch<T> &mine)
{
  const bool alone = warp < s.wide;
  const int team_log2 = alone ? 5 : s.team_log2, lane = threadIdx.x % 32;
  const int before = alone ? warp : s.wide + ((warp - s.wide) << (5 - s.team_log2));
  const int at = s.first + before + (lane >> team_log2);
  const int row = at < s.end ? (int)__ldg(s.order + at) : -1;
  const Columns c(a, blockIdx.y, s.lanes_log2);
  int begin = 0, end = 0;
  if (row >= 0) {
    begin = csr::load_low(a.offsets, row, a.wide, a.base);
    end = csr::load_low(a.offsets, row + 1, a.wide, a.base);
    if (s.stale && end - begin > (alone ? s.most_wide : s.most_other)) *s.stale = 1;
  }
  constexpr int kColumns = Columns::kWords * V;
  T sum[kColumns];
  csr::set_zero<T, kColumns>(sum);
  csr::walk<false, true, S, T, V, CHUNK, Columns::kWords>(a, c.b, begin, end, team_log2,
                                                          s.lanes_log2, mine, sum, c.step());
  csr::add_groups<T, kColumns>(team_log2, s.lanes_log2, sum);
  if (row < 0 || (lane & ((1 << team_log2) - 1)) >> s.lanes_log2) return;
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  c.template store<Out>(a, row, sum, scalars);
}

} // namespace sorted
} // namespace shunt
