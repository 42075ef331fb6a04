// sorted_spmm_unstaged.cuh: all rows but the long ones, where C is narrow: a team of lanes each, the
// larger the longer the row, and A read without staging it
// (kernels/csr/split/csr_spmm_split_walk_unstaged.cuh).
//
//   order     | long .. | 4 share and more .. | 2 share ..  | share ..    | fewer ..
//   warps                 w0    w1    w2  ..    w9 ..         w20 ..        w40 ..
//   teams                 8 groups a row        4             2             1
//
// So each group has half a share to a share of a row, and those of a warp have about as much.
//
//   grid.x    warps, 8 a block        grid.y    slices of C, of 2^lanes_log2 x V columns
#pragma once
#include "kernels/csr/split/csr_spmm_split_walk_unstaged.cuh"
#include "kernels/sorted/sorted_spmm.cuh"

namespace shunt
{
namespace sorted
{

constexpr int kMostTeams = 6; // kinds of teams: 1 to 32 groups

// Rows whose teams have 1 << k groups: places [first, end), by warps from first_warp on.
struct team_level {
  int first, end, first_warp;
  int most; // entries that these had at most
};

struct unstaged_args {
  const uint32_t *order;
  int lanes_log2, levels;
  team_level level[kMostTeams]; // by k
  uint32_t *stale;
  bool beside; // as in row_args
};

template <class S, class Out, class T, int V>
__global__ void __launch_bounds__(kThreads, csr::kUnstagedBlocks)
    multiply_rows_unstaged(const __grid_constant__ args<T> a,
                           const __grid_constant__ unstaged_args s)
{
  const int warp = blockIdx.x * kWarps + threadIdx.x / 32;
  int k = s.levels - 1;
  while (k > 0 && warp >= s.level[k - 1].first_warp) k--;
  const int team_log2 = s.lanes_log2 + k;
  const int at = s.level[k].first + ((warp - s.level[k].first_warp) << (5 - team_log2)) +
                 (threadIdx.x % 32 >> team_log2);
  const csr::lane_columns<S, V> c(a, blockIdx.y, s.lanes_log2);
  if (!s.beside) wait_for_previous();

  const int row = at < s.level[k].end ? (int)__ldg(s.order + at) : -1;
  int begin = 0, end = 0;
  if (row >= 0) {
    begin = csr::load_low(a.offsets, row, a.wide, a.base);
    end = csr::load_low(a.offsets, row + 1, a.wide, a.base);
    if (s.stale && end - begin > s.level[k].most) *s.stale = 1;
  }
  csr::multiply_unstaged<(V > 4), S, Out, T, V>(a, c, row, begin, end, team_log2, s.lanes_log2);
  // As in multiply_rows().
  if (s.beside) wait_for_previous();
}

} // namespace sorted
} // namespace shunt
