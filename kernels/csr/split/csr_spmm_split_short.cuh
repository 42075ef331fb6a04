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
#include "kernels/csr/split/csr_spmm_split_walk.cuh"

namespace shunt
{
namespace csr
{

constexpr int kTeamRows = 64; // of all teams of a warp, at most

// Rows of a team: neighbours in A.
struct neighbours {
  int first;
  __device__ __forceinline__ int operator[](int at) const { return first + at; }
};

// The rows of a team as it walks their nonzeros; `ends` are the team's own, in shared memory.  Rows:
// their numbers by [].
template <class Out, class T, int V, class Rows> struct open_row {
  const args<T> &a;
  const int *ends; // [count]: where in the list each row ends
  Rows rows;
  int count;
  int col;
  bool active;
  T scalars[2];
  int at, end; // the row that is open, and where it ends: INT32_MAX behind the last one

  // Stores the open row, and the empty ones behind it, which end at p, too.
  __device__ __forceinline__ void finish(int p, T *sum)
  {
    do {
      if (active) store_row<Out, T, V>(a, rows[at], col, sum, scalars);
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

// The rows of a lane's team.
struct short_rows {
  int in_team;     // the lane, of its team
  int row, count;  // the first one; how many
  int begin, stop; // their nonzeros in A
  int *ends;       // [count]: of each row, in A; in shared memory

  // Reads the offsets; `ends` have room for the rows of all teams of the warp.
  template <class T>
  __device__ __forceinline__ short_rows(const args<T> &a, const split_args &s, uint32_t block,
                                        int *warp_ends)
      : begin(0)
  {
    const int lane = threadIdx.x % 32, teams = 32 >> s.lanes_log2, team = lane >> s.lanes_log2;
    const int warp = (int)block * (blockDim.x / 32) + threadIdx.x / 32;
    in_team = lane & ((1 << s.lanes_log2) - 1);
    row = min((int)a.rows, (warp * teams + team) * s.team_rows);
    count = min(s.team_rows, (int)a.rows - row);
    ends = warp_ends + team * s.team_rows;
    if (count > 0) begin = load_low(a.offsets, row, a.wide, a.base);
    for (int i = in_team; i < count; i += 1 << s.lanes_log2)
      ends[i] = load_low(a.offsets, row + i + 1, a.wide, a.base);
    __syncwarp();
    stop = count > 0 ? ends[count - 1] : 0;
  }

  // Whether a row of the warp's teams is the long blocks'.
  __device__ __forceinline__ bool has_long(const split_args &s) const
  {
    bool met = false;
    for (int i = in_team; i < count; i += 1 << s.lanes_log2)
      met |= ends[i] - (i ? ends[i - 1] : begin) > s.limit;
    return __any_sync(~0u, met);
  }
};

// Multiplies the nonzeros staged at [first, after), of which the first is `at` in the list.
template <class S, class Out, class T, int V, int CHUNK, class Rows>
__device__ __forceinline__ void multiply_batch(const args<T> &a, const char *b,
                                               const batch<T> &mine, int first, int after, int at,
                                               open_row<Out, T, V, Rows> &open, T *sum)
{
  for (int from = first, p = at + 1; from < after; from += CHUNK, p += CHUNK) {
    b_word<S, V> x[CHUNK][1];
    T value[CHUNK];
    load_chunk<false, S, T, V, CHUNK, 1>(a, b, 0, mine, from, after, x);
    wide<T, CHUNK>::load(value, mine.value + from);
#pragma unroll
    for (int u = 0; u < CHUNK; u++) {
      x[u][0].multiply_into(sum, value[u]);
      if (p + u == open.end) open.finish(open.end, sum);
    }
  }
}

template <bool LONG, class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_short_rows(const args<T> &a, const split_args &s,
                                                    batch<T> &mine, int *ends)
{
  const uint32_t from = blockIdx.x - s.long_blocks, slice = from / s.row_blocks;
  const lane_columns<S, V> c(a, slice, s.lanes_log2);
  const short_rows t(a, s, from - slice * s.row_blocks, ends);
  if (LONG && t.has_long(s))
    return multiply_one_by_one<S, Out, T, V, CHUNK>(a, s, c, t.row, t.count, t.begin, t.ends, mine);

  const int first = team_first(s.lanes_log2);
  T sum[V];
  set_zero<T, V>(sum);
  open_row<Out, T, V, neighbours> open = {a,
                                          t.ends,
                                          {t.row},
                                          t.count,
                                          c.col,
                                          c.active,
                                          {a.alpha.get(), a.beta.get()},
                                          0,
                                          t.count > 0 ? t.ends[0] : INT32_MAX};
  if (open.end == t.begin) open.finish(t.begin, sum);
  const int length = kLoads << s.lanes_log2; // of a batch
  for (int at = t.begin; __any_sync(~0u, at < t.stop); at = min(t.stop, at + length)) {
    fetched<S> some;
    some.load(a, at, t.stop, t.in_team, s.lanes_log2);
    some.stage(first, t.in_team, s.lanes_log2, mine);
    __syncwarp();
    multiply_batch<S, Out, T, V, CHUNK>(a, c.b, mine, first, first + min(length, t.stop - at), at,
                                        open, sum);
    __syncwarp(); // the batch has been read
  }
}

} // namespace csr
} // namespace shunt
