// csr_sddmm_alike.cuh: the rows kernel (csr_sddmm_rows.cu) for patterns whose neighbouring rows
// often have the same columns, as those of finite elements with several unknowns a node do.
//
//   C.values[p] = alpha * dot(A(i, :), B(:, j)) + beta * C.values[p],   p = (i, j)
//
// A column of B is loaded once for up to 3 rows:
//
//   row 4   1 2 3 7 8 9 ..   .
//   row 5   1 2 3 7 8 9 ..   : a group: 32 columns at a time, 3 x 32 entries
//   row 6   1 2 3 7 8 9 ..   '
//   row 7   2 5 7             a stretch: 32 entries at a time, of whatever rows, as the rows
//   row 8   1 6               kernel takes them
//
// A row is taken to be like the next one if both are as long and have the same first and last
// column, which 32 lanes find out for 32 rows at once.  That is only what makes it worth trying:
// the columns are all read, and 32 that differ go row by row.  An entry's sum has the same bits
// whichever way it goes.
//
// Entries are cut into runs, one warp each, as there; but a run begins where the row of its first
// entry does, and where that row is like the ones before it, up to 2 rows earlier: else runs would
// cut groups.  Where a row is longer than LONG entries, runs begin within it.  Both warps at a cut
// see the same rows, so the runs adjoin.
//
// Roofline: K * size bytes from L1 for each column of a group.
#pragma once
#include "kernels/csr/csr_sddmm_rows_teams.cuh"

namespace shunt
{
namespace csr::sddmm
{

// Where rows first .. first + 31 stand, a lane each, and which are like the one behind them.
template <class I> struct alike_rows {
  static constexpr int SHORTEST = 8; // entries of a row that is worth a group
  static constexpr int LONG = 512;   // entries; runs are cut within longer rows
  int64_t first;
  I begin, end;
  unsigned like_next; // bit l: row first + l is like the next one

  __device__ __forceinline__ void look(const pattern<I> &c, int64_t from, int lane)
  {
    first = from;
    const int64_t row = min(from + lane, c.rows - 1);
    begin = __ldg(c.offsets + row) - c.base;
    end = __ldg(c.offsets + row + 1) - c.base;
    const bool exists = from + lane < c.rows && end > begin;
    const I low = exists ? __ldg(c.columns + begin) : I(0);
    const I high = exists ? __ldg(c.columns + (end - 1)) : I(0);
    const I length = end - begin;
    const bool as_long = __shfl_down_sync(ALL, length, 1) == length;
    const bool as_low = __shfl_down_sync(ALL, low, 1) == low;
    const bool as_high = __shfl_down_sync(ALL, high, 1) == high;
    const bool worth = lane < WARP - 1 && from + lane + 1 < c.rows && length >= SHORTEST;
    like_next = __ballot_sync(ALL, worth && as_long && as_low && as_high);
  }
  // How many rows from row first + l on are a group.
  __device__ __forceinline__ int group_at(int l) const
  {
    const int chain = __ffs(~(like_next >> l)) - 1; // like_next has no bit 31
    return chain == 0 ? 1 : chain == 1 || chain == 3 ? 2 : 3;
  }
};

// Where the run begins that would begin at entry `position`.
template <class I>
__device__ __forceinline__ I run_begins(const pattern<I> &c, I position, int lane)
{
  if (position <= 0 || position >= c.nnz) return position <= 0 ? I(0) : c.nnz;
  const int64_t row =
      find_row(c.offsets, 0, c.rows, 1, I(position + c.base), guess_row(c, position), lane);
  alike_rows<I> rows;
  const int before = (int)min(row, int64_t(2));
  rows.look(c, row - before, lane);
  const I begin = __shfl_sync(ALL, rows.begin, before), end = __shfl_sync(ALL, rows.end, before);
  if (end - begin > rows.LONG) return position;
  int from = before;
  while (from > 0 && rows.like_next >> (from - 1) & 1) from--;
  return __shfl_sync(ALL, rows.begin, from);
}

template <class T, class I, int N, int Team, int Chunks> struct alike_run {
  const args<T, I> &p;
  const scale<T> by;
  const int lane;
  team_batch<T, I, N, Team, Chunks> warp;
  alike_rows<I> rows;

  __device__ __forceinline__ alike_run(const args<T, I> &p, const steps<I> &step, int lane)
      : p(p), by(p.out), lane(lane), warp(p, step, lane)
  {
  }

  __device__ __forceinline__ I column_at(I position, I end) const
  {
    return __ldg(p.c.columns + min(I(position + lane), I(end - 1)));
  }

  // R rows from row rows.first + l on, which are as long as each other.
  template <int R> __device__ __forceinline__ void take_group(int l)
  {
    const I begin = __shfl_sync(ALL, rows.begin, l), length = __shfl_sync(ALL, rows.end, l) - begin;
    I column[R], coming[R];
#pragma unroll
    for (int r = 0; r < R; r++) column[r] = column_at(begin + r * length, begin + (r + 1) * length);
#pragma unroll 1
    for (I at = 0; at < length; at += WARP) {
      bool same = true;
#pragma unroll
      for (int r = 0; r < R; r++) {
        same &= column[r] == column[0];
        const I next = min(I(at + WARP), length - 1);
        coming[r] = column_at(begin + r * length + next, begin + (r + 1) * length);
      }
      const bool mine = lane < length - at;
      compute_t<T> dot[R];
      if (__all_sync(ALL, same)) {
        warp.template run_shared<R>(rows.first + l, column[0] - p.c.base, dot);
      } else {
#pragma unroll
        for (int r = 0; r < R; r++) dot[r] = warp.run(rows.first + l + r, 0, column[r] - p.c.base);
      }
#pragma unroll
      for (int r = 0; r < R; r++) {
        if (mine) store_value<T>(p.out, by, begin + r * length + at + lane, dot[r]);
        column[r] = coming[r];
      }
    }
  }

  // The row of the window that holds `position`; as row_window::row_of.
  __device__ __forceinline__ int row_of(I position) const
  {
    int row = 0;
#pragma unroll
    for (int step = WARP / 2; step; step /= 2)
      if (__shfl_sync(ALL, rows.end, row + step - 1) <= position) row += step;
    return row;
  }

  // Entries [position, end) of rows of the window, one after the other.
  __device__ __forceinline__ void take_stretch(I position, I end)
  {
    if (position >= end) return;
    I column = column_at(position, end);
#pragma unroll 1
    while (position < end) {
      const int count = (int)min(I(end - position), I(WARP));
      const I coming = column_at(min(I(position + count), I(end - 1)), end);
      const int row = row_of(position + min(lane, count - 1));
      const compute_t<T> dot = warp.run(rows.first, row, column - p.c.base);
      if (lane < count) store_value<T>(p.out, by, position + lane, dot);
      position += count;
      column = coming;
    }
  }

  // The rows of the window from the one of entry `position` on, up to entry `end`; `last`: which
  // the window holds.  Else stops where a group might go on in the next window.  Returns how many
  // rows it is done with.
  __device__ __forceinline__ int take_window(I &position, I end, bool last)
  {
    constexpr int MOST = 3; // rows of a group
    int l = 0;
    while (l <= (last ? WARP - 1 : WARP - 1 - MOST) && position < end) {
      const int group = rows.group_at(l);
      const I from = __shfl_sync(ALL, rows.begin, l);
      const I to = __shfl_sync(ALL, rows.end, min(l + group, WARP) - 1);
      if (group > 1 && from >= position && to <= end) {
        group == 3 ? take_group<3>(l) : take_group<2>(l);
        l += group;
        position = to;
      } else { // a stretch up to the next group
        const unsigned groups = rows.like_next >> l >> 1;
        const int next = groups ? l + __ffs(groups) : WARP;
        const I stop = min(end, __shfl_sync(ALL, rows.end, next - 1));
        take_stretch(position, stop);
        l = next;
        position = max(position, stop);
      }
    }
    return l;
  }

  __device__ __forceinline__ void take(I position, I end)
  {
    if (position >= end) return;
    int64_t first = find_row(p.c.offsets, 0, p.c.rows, 1, I(position + p.c.base),
                             guess_row(p.c, position), lane);
    while (position < end) {
      rows.look(p.c, first, lane);
      first += take_window(position, end, __shfl_sync(ALL, rows.end, WARP - 1) >= end);
    }
  }
};

} // namespace csr::sddmm
} // namespace shunt
