// sorted_spmm_short.cuh: short rows, up to 32 >> level of them a warp, as one list a team.
//
// A row of a few nonzeros is four latencies, one after another: its place, its offsets, its
// columns, its rows of B.  A team that takes several waits for the first three once.  Rows of level
// j have 4 << j nonzeros at most, and 1 << j lanes each, which fetch 4 at most:
//
//   level 1   lane    |  0     1  |  2     3  |  4     5  |  6     7  |     a team of 8
//             row     |    r 0    |    r 1    |    r 2    |    r 3    |     places in a row
//             fetches | 0246 1357 | 024. 135. | 024. 13.. | 02.. 13.. |     nonzeros of the row
//             list    |r0 .. .. 7|r1 .. 5|r2 .. 4|r3 .. 3|                  in shared memory
//             chunks  |- - - -|- - - -|- - - -|- - - -|- - - -|- - .        of rows of B in flight
//
// A list fits in the batch of its team, 4 nonzeros a lane.  Where all lists run at once without that,
// rows have 2 or 4 times as many lanes, and a warp as many fewer rows (`spread`).
#pragma once
#include <type_traits>

#include "kernels/csr/split/csr_spmm_split_short.cuh"
#include "kernels/sorted/sorted_spmm.cuh"

namespace shunt
{
namespace sorted
{

// What a warp knows of its rows, in the order of their places.
struct warp_rows {
  int number[32];
  int end[32]; // in the list of the row's team
};

struct numbered {
  const int *number;
  __device__ __forceinline__ int operator[](int at) const { return number[at]; }
};

// The row of a lane; `lanes_log2`: of the row, not of its team.
struct short_row {
  int row, begin, length; // row: -1 behind the last one

  template <class T>
  __device__ __forceinline__ short_row(const args<T> &a, const row_args &s, int warp, int level,
                                       int lanes_log2)
      : row(-1), begin(0), length(0)
  {
    const list_level &l = s.level[level];
    const int at =
        l.first + ((warp - l.first_warp) << (5 - lanes_log2)) + (threadIdx.x % 32 >> lanes_log2);
    if (at >= l.end) return;
    row = (int)__ldg(s.order + at);
    begin = csr::load_low(a.offsets, row, a.wide, a.base);
    length = csr::load_low(a.offsets, row + 1, a.wide, a.base) - begin;
  }
};

// Rows one after the other: for a warp that met one which has grown.  It reads everything anew, so
// that those which met none keep nothing for it.
template <class S, class Out, class T, int V, int CHUNK>
__device__ __noinline__ void multiply_one_by_one(const args<T> &a, const row_args &s, int warp,
                                                 int level, batch<T> &batch_of_warp)
{
  const csr::lane_columns<S, V> c(a, blockIdx.y, s.lanes_log2);
  const short_row mine(a, s, warp, level, level + s.spread);
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  const int lanes = 1 << s.lanes_log2;
  for (int i = 0; i < lanes; i += 1 << (level + s.spread)) {
    const int row = __shfl_sync(~0u, mine.row, i, lanes);
    const int begin = __shfl_sync(~0u, mine.begin, i, lanes);
    const int length = __shfl_sync(~0u, mine.length, i, lanes);
    T sum[V];
    csr::set_zero<T, V>(sum);
    csr::walk<false, false, S, T, V, CHUNK>(a, c.b, begin, begin + length, s.lanes_log2,
                                            s.lanes_log2, batch_of_warp, sum);
    if (row >= 0 && c.active) csr::store_row<Out, T, V>(a, row, c.col, sum, scalars);
  }
}

// The nonzeros of the team's rows to its batch, and zeros behind them up to a whole chunk.  Returns
// how many they are; *end: of them, those up to the last of the lane's row.
template <class S, class T, int CHUNK>
__device__ __forceinline__ int stage_list(const args<T> &a, const short_row &mine,
                                          int row_lanes_log2, int lanes_log2, batch<T> &to,
                                          int *end)
{
  const int lanes = 1 << lanes_log2, in_team = threadIdx.x & (lanes - 1);
  const int among = threadIdx.x & ((1 << row_lanes_log2) - 1);
  const int first = csr::team_first(lanes_log2);
  csr::fetched<S> some;
  some.load(a, mine.begin, mine.begin + mine.length, among, row_lanes_log2);

  int sum = among == 0 ? mine.length : 0;
  for (int apart = 1; apart < lanes; apart *= 2) {
    const int before = __shfl_up_sync(~0u, sum, apart, lanes);
    if (in_team >= apart) sum += before;
  }
  const int total = __shfl_sync(~0u, sum, lanes - 1, lanes);
#pragma unroll
  for (int k = 0; k < csr::kLoads; k++) {
    const int p = (k << row_lanes_log2) + among;
    if (p < mine.length) {
      to.column[first + sum - mine.length + p] = some.column[k];
      to.value[first + sum - mine.length + p] = widen<T>(some.value[k]);
    }
  }
  for (int p = total + in_team; p < (total + CHUNK - 1) / CHUNK * CHUNK; p += lanes)
    to.value[first + p] = T(0);
  *end = sum;
  return total;
}

// The rows of a warp of lists, all but the waiting for the kernel before.
template <class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_short_rows(const args<T> &a, const row_args &s, int warp,
                                                    batch<T> &batch_of_warp, warp_rows &rows)
{
  int level = s.levels - 1;
  while (level > 0 && warp >= s.level[level - 1].first_warp) level--;
  const int lane = threadIdx.x % 32, lanes = 1 << s.lanes_log2, team = lane & -lanes;
  const int row_lanes_log2 = level + s.spread;
  const csr::lane_columns<S, V> c(a, blockIdx.y, s.lanes_log2);
  const short_row mine(a, s, warp, level, row_lanes_log2);
  const bool grown = mine.length > 4 << level;
  if (grown && s.stale) *s.stale = 1;
  if (__any_sync(~0u, grown))
    return multiply_one_by_one<S, Out, T, V, CHUNK>(a, s, warp, level, batch_of_warp);

  int end;
  const int total =
      stage_list<S, T, CHUNK>(a, mine, row_lanes_log2, s.lanes_log2, batch_of_warp, &end);
  rows.number[lane >> row_lanes_log2] = mine.row; // the same by all lanes of a row
  rows.end[lane >> row_lanes_log2] = end;
  __syncwarp();

  const unsigned there = __ballot_sync(~0u, mine.row >= 0);
  const int count = __popc(there >> team & (~0u >> (32 - lanes))) >> row_lanes_log2;
  const int *ends = rows.end + (team >> row_lanes_log2),
            *numbers = rows.number + (team >> row_lanes_log2);
  const int first = csr::team_first(s.lanes_log2);
  T sum[V];
  csr::set_zero<T, V>(sum);
  csr::open_row<Out, T, V, numbered> open = {a,
                                             ends,
                                             {numbers},
                                             count,
                                             c.col,
                                             c.active,
                                             {a.alpha.get(), a.beta.get()},
                                             0,
                                             count > 0 ? ends[0] : INT32_MAX};
  if (open.end == 0) open.finish(0, sum);
  csr::multiply_batch<S, Out, T, V, CHUNK>(a, c.b, batch_of_warp, first, first + total, 0, open,
                                           sum);
}

// LISTS: there are short rows, behind the wide ones.  WORDS: a lane has two, without lists.
template <bool LISTS, bool WORDS, class S, class Out, class T, int V, int CHUNK>
__global__ void __launch_bounds__(kThreads, CHUNK == 4 && !LISTS && !WORDS ? 5 : 4)
    multiply_rows(const __grid_constant__ args<T> a, const __grid_constant__ row_args s)
{
  __shared__ __align__(16) batch<T> batches[kWarps];
  batch<T> &mine = batches[threadIdx.x / 32];
  const int warp = blockIdx.x * kWarps + threadIdx.x / 32;
  using columns =
      typename std::conditional<WORDS, csr::lane_words<S, V>, csr::lane_columns<S, V>>::type;
  if (!s.beside) wait_for_previous();
  if constexpr (LISTS) {
    __shared__ warp_rows rows[kWarps];
    const int behind = warp - s.wide;
    if (behind >= 0 && behind < s.list_warps)
      multiply_short_rows<S, Out, T, V, CHUNK>(a, s, warp, mine, rows[threadIdx.x / 32]);
    else
      multiply_own_rows<columns, S, Out, T, V, CHUNK>(a, s, behind < 0 ? warp : warp - s.list_warps,
                                                      mine);
  } else {
    multiply_own_rows<columns, S, Out, T, V, CHUNK>(a, s, warp, mine);
  }
  // What follows in the stream waits for this kernel alone: so this one waits for the long rows.
  if (s.beside) wait_for_previous();
}

} // namespace sorted
} // namespace shunt
