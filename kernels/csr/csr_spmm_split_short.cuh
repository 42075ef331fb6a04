// csr_spmm_split_short.cuh: several short rows a team.
//
// A row of a few nonzeros is three latencies, one after another: its offsets, its columns, its
// rows of B.  A team that takes `team_rows` neighbouring ones waits once for all: their nonzeros
// are one list, whose chunks do not stop where rows do.
//
//   rows     |r   |r+1|   r+2   |r+3|r+5      |       r+4 is empty
//   list     |x x x|x|x x x x x|x x|x x x x x x|
//   chunks   |- - - - - - - -|- - - - - - - -|- .     CHUNK rows of B in flight
//
// Rows beyond `limit` are the long blocks', if there are any: a warp that meets one takes its rows
// one by one.  Without long blocks it is walked like the others: slow, and right.
#pragma once
#include "kernels/csr/csr_spmm_split_walk.cuh"

namespace shunt
{
namespace csr
{

constexpr int kTeamRows = 64; // of all teams of a warp, at most

// The rows of a team as it walks their nonzeros; `ends` are the team's own, in shared memory.
template <class Out, class T, int V> struct open_row {
  const args<T> &a;
  const int *ends; // [count]: of each row, in A
  int row, count;  // the first one; how many
  int col;
  bool active;
  T scalars[2];
  int at, end; // the row that is open, and where it ends: INT32_MAX behind the last one

  // Stores the open row, and the empty ones behind it, which end at p, too.
  __device__ __forceinline__ void finish(int p, T *sum)
  {
    do {
      if (active) store_row<Out, T, V>(a, row + at, col, sum, scalars);
      set_zero<T, V>(sum);
      at++;
      end = at < count ? ends[at] : INT32_MAX;
    } while (end == p);
  }
};

// The same rows, one after the other: no chunk of a list that has a long row in it is whole.
template <class S, class Out, class T, int V, int CHUNK>
__device__ __noinline__ void multiply_one_by_one(const args<T> &a, const split_args &s,
                                                 const lane_columns<S, V> &c, int row, int count,
                                                 int begin, const int *ends, batch<T> &mine)
{
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  for (int i = 0; __any_sync(~0u, i < count); i++) {
    const int end = i < count ? ends[i] : begin;
    const bool ours = i < count && end - begin <= s.limit;
    T sum[V];
    set_zero<T, V>(sum);
    walk<false, false, S, T, V, CHUNK>(a, c.b, begin, ours ? end : begin, s.lanes_log2,
                                       s.lanes_log2, mine, sum);
    if (ours && c.active) store_row<Out, T, V>(a, row + i, c.col, sum, scalars);
    begin = end;
  }
}

template <bool LONG, class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_short_rows(const args<T> &a, const split_args &s,
                                                    batch<T> &mine, int *ends)
{
  const int lane = threadIdx.x % 32, teams = 32 >> s.lanes_log2, team = lane >> s.lanes_log2;
  const int in_team = lane & ((1 << s.lanes_log2) - 1);
  const uint32_t block = blockIdx.x - s.long_blocks, slice = block / s.row_blocks;
  const int warp = (int)(block - slice * s.row_blocks) * (blockDim.x / 32) + threadIdx.x / 32;
  const int row = min((int)a.rows, (warp * teams + team) * s.team_rows);
  const int count = min(s.team_rows, (int)a.rows - row);
  const lane_columns<S, V> c(a, slice, s.lanes_log2);

  int begin = 0;
  ends += team * s.team_rows;
  if (count > 0) begin = load_low(a.offsets, row, a.wide, a.base);
  for (int i = in_team; i < count; i += 1 << s.lanes_log2)
    ends[i] = load_low(a.offsets, row + i + 1, a.wide, a.base);
  __syncwarp();
  const int stop = count > 0 ? ends[count - 1] : 0;
  if (LONG) {
    bool met = false;
    for (int i = in_team; i < count; i += 1 << s.lanes_log2)
      met |= ends[i] - (i ? ends[i - 1] : begin) > s.limit;
    if (__any_sync(~0u, met))
      return multiply_one_by_one<S, Out, T, V, CHUNK>(a, s, c, row, count, begin, ends, mine);
  }

  const int first = team_first(s.lanes_log2);
  T sum[V];
  set_zero<T, V>(sum);
  open_row<Out, T, V> open = {a,
                              ends,
                              row,
                              count,
                              c.col,
                              c.active,
                              {a.alpha.get(), a.beta.get()},
                              0,
                              count > 0 ? ends[0] : INT32_MAX};
  if (open.end == begin) open.finish(begin, sum);
  for (int at = begin; __any_sync(~0u, at < stop); at = min(stop, at + (kLoads << s.lanes_log2))) {
    fetched<S> some;
    some.load(a, at, stop, in_team, s.lanes_log2);
    some.stage(first, in_team, s.lanes_log2, mine);
    __syncwarp();
    const int after = first + min(kLoads << s.lanes_log2, stop - at);
    for (int step = first, p = at + 1; step < after; step += CHUNK, p += CHUNK) {
      b_word<S, V> x[CHUNK];
      T value[CHUNK];
      load_chunk<false, S, T, V, CHUNK>(a, c.b, mine, step, after, x);
      wide<T, CHUNK>::load(value, mine.value + step);
#pragma unroll
      for (int u = 0; u < CHUNK; u++) {
        x[u].multiply_into(sum, value[u]);
        if (p + u == open.end) open.finish(open.end, sum);
      }
    }
    __syncwarp(); // the batch has been read
  }
}

} // namespace csr
} // namespace shunt
