// csr_spmm_split.cuh: the kernel that gives each row of A a team of lanes.
//
// One launch, no workspace: the shortest way from a row's offsets to its sums.  What is
// long is cut finer, in three steps that all look at the row's length (and its warp's
// other rows' lengths) alone:
//
//   a row like its neighbours    its team alone
//   much longer than those       all teams of the warp, one such row after another
//   longer than `limit`          a long block (csr_spmm_split_long.cuh)
//
// Where all rows are short, a team takes several (csr_spmm_split_short.cuh).  Narrow C has a kernel
// of its own (csr_spmm_split_unstaged.cuh), and so have few rows (csr_spmm_split_blocks.cuh).
//
//   grid.x   | long blocks: windows x slices | row blocks of slice 0 | of slice 1 | ..
//
//   warp     |  row r   |  row r+1 |  row r+2 |  row r+3 |     4 teams of 8 lanes
//   slice    lanes x V columns of C; with slices one after another, what is gathered at
//            one time is a slice of B
//
// Warps of row blocks never wait on each other.  Neighbouring rows are in flight at the
// same time: where they share columns (finite elements), B comes from L1.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/split/csr_spmm_split_long.cuh"
#include "kernels/csr/split/csr_spmm_split_short.cuh"

namespace shunt
{
namespace csr
{

template <bool WHOLE, class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_rows(const args<T> &a, const split_args &s, batch<T> &mine)
{
  const int lane = threadIdx.x % 32, teams = 32 >> s.team_log2;
  const int in_team = lane & ((1 << s.team_log2) - 1);
  uint32_t slice, block;
  place_of(s, &slice, &block);
  const uint32_t warp = block * (blockDim.x / 32) + threadIdx.x / 32;
  const uint32_t first_row = warp * teams, row = first_row + (lane >> s.team_log2);
  const lane_columns<S, V> c(a, slice, s.lanes_log2);

  int begin = 0, end = 0;
  if (row < (uint32_t)a.rows) {
    begin = load_low(a.offsets, row, a.wide, a.base);
    end = load_low(a.offsets, row + 1, a.wide, a.base);
  }
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  const bool ours = row < (uint32_t)a.rows && end - begin <= s.limit;
  bool helped = false;
  if (teams > 1) {
    const int length = ours ? end - begin : 0;
    const int all = __reduce_add_sync(~0u, in_team == 0 ? length : 0);
    helped = length > 4 * CHUNK << (s.team_log2 - s.lanes_log2) && 2 * length * teams > 3 * all;
  }

  T sum[V];
  set_zero<T, V>(sum);
  walk<false, WHOLE, S, T, V, CHUNK>(a, c.b, begin, ours && !helped ? end : begin, s.team_log2,
                                     s.lanes_log2, mine, sum);
  add_groups<T, V>(s.team_log2, s.lanes_log2, sum);
  if (ours && !helped && c.active && in_team >> s.lanes_log2 == 0)
    store_row<Out, T, V>(a, row, c.col, sum, scalars);

  for (unsigned rows = __ballot_sync(~0u, helped && in_team == 0); rows; rows &= rows - 1) {
    const int from = __ffs(rows) - 1;
    set_zero<T, V>(sum);
    walk<false, WHOLE, S, T, V, CHUNK>(a, c.b, __shfl_sync(~0u, begin, from),
                                       __shfl_sync(~0u, end, from), 5, s.lanes_log2, mine, sum);
    add_groups<T, V>(5, s.lanes_log2, sum);
    if (c.active && lane >> s.lanes_log2 == 0)
      store_row<Out, T, V>(a, first_row + (from >> s.team_log2), c.col, sum, scalars);
  }
}

// What a grid is made of; one kernel each, since registers are what decides.
enum class way {
  any,       // row blocks, and long blocks if there are any
  plain,     // row blocks alone, of at most kPlainThreads: more registers than beside long blocks
  whole,     // row blocks alone, which take whole chunks without a look at each nonzero
  all_whole, // row blocks and long blocks, which both do
  lists,     // row blocks alone, whose teams take several short rows as one list
  mixed,     // the same beside long blocks
};

constexpr int kPlainThreads = kThreads / 2;

// Chunks of 4 need fewer registers: more warps at once for rows too short to fill 8.  Beside long
// blocks, rows of f64 take whole chunks, too.
template <class S, class Out, class T, int V, int CHUNK, way WAY>
__global__ void __launch_bounds__(WAY == way::plain ? kPlainThreads : kThreads,
                                  WAY == way::plain                   ? 7
                                  : sizeof(T) > 8                     ? kBlocksOfLarge
                                  : CHUNK < kChunk && WAY == way::any ? 5
                                                                      : kBlocksPerSm)
    spmm_split(const __grid_constant__ args<T> a, const __grid_constant__ split_args s)
{
  __shared__ __align__(16) batch<T> batches[WAY == way::plain ? kPlainThreads / 32 : kMostWarps];
  batch<T> &mine = batches[threadIdx.x / 32];
  wait_for_previous();
  if constexpr (WAY == way::lists) {
    __shared__ int ends[kMostWarps][kTeamRows];
    multiply_short_rows<false, S, Out, T, V, CHUNK>(a, s, mine, ends[threadIdx.x / 32]);
  } else if constexpr (WAY == way::mixed) {
    __shared__ __align__(16) long_list<T, V> list;
    __shared__ int ends[kMostWarps][kTeamRows];
    if (blockIdx.x < s.long_blocks)
      multiply_long_rows<false, S, Out, T, V, CHUNK>(a, s, mine, list);
    else
      multiply_short_rows<true, S, Out, T, V, CHUNK>(a, s, mine, ends[threadIdx.x / 32]);
  } else if constexpr (WAY == way::whole || WAY == way::plain) {
    multiply_rows<WAY == way::whole, S, Out, T, V, CHUNK>(a, s, mine);
  } else {
    __shared__ __align__(16) long_list<T, V> list;
    if (blockIdx.x < s.long_blocks)
      multiply_long_rows<WAY == way::all_whole, S, Out, T, V, CHUNK>(a, s, mine, list);
    else
      multiply_rows<WAY == way::all_whole || sizeof(T) >= 8, S, Out, T, V, CHUNK>(a, s, mine);
  }
}

} // namespace csr
} // namespace shunt
