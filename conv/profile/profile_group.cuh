// profile_group.cuh: a pass over an aligned group of 8 rows, by one warp or by several.
//
// A column is compared with the two before it, which are the lanes' next to its own, and with the
// one standing `length` before it, at the same place of the row above, which was read a moment ago
// and comes from the L1 cache.
//
// A run of entries in one strip of 64 columns (a segment) is counted where the next one begins, by
// the lane that sees it begin: bits of one vote, 32 entries each, the open run carried on.
//
//   strip      3 3 3 7 7 9 9 9 | 9 9 12 ..     | : the next 32
//   begins     1 0 0 1 0 1 0 0 | 0 0 1
//   adds             3   2           5         entries: their weight (profile_segments.h)
//
// Where warps share a group, each looks back up to 64 entries for its first run.
#pragma once
#include "conv/profile/profile_job.cuh"
#include "conv/profile/profile_segments.h"

namespace shunt
{
namespace
{

// The nine offsets of a group: lane k of 0 to 8 has where row k begins, the others where the last
// row ends; rows past the end are empty.  All zero if one is impossible.
struct group_offsets {
  int64_t at, length; // of the lane's row
  int rows;
};

template <class I>
__device__ __forceinline__ group_offsets load_group(const profile_job &g, int64_t group)
{
  const I *offsets = static_cast<const I *>(g.offsets);
  const int64_t first = group * 8;
  const int lane = threadIdx.x % 32;
  group_offsets o;

  o.rows = (int)(g.rows - first < 8 ? g.rows - first : 8);
  // unsigned, so that garbage wraps
  o.at = (int64_t)((uint64_t)(int64_t)offsets[first + min(lane, o.rows)] - (uint64_t)g.base);
  const int64_t next = __shfl_down_sync(whole_warp, o.at, 1);
  const bool inside = o.at >= 0 && o.at <= g.nnz;
  const bool valid = __all_sync(whole_warp, inside && (lane >= o.rows || o.at <= next));
  o.at = valid ? o.at : 0;
  o.length = valid && lane < o.rows ? next - o.at : 0;
  return o;
}

__device__ __forceinline__ int64_t group_entries(const group_offsets &o)
{
  return __shfl_sync(whole_warp, o.at, 8) - __shfl_sync(whole_warp, o.at, 0);
}

// Bit r: row r is as long as row r - 1.
__device__ __forceinline__ unsigned same_lengths(const group_offsets &o)
{
  const int64_t above = __shfl_up_sync(whole_warp, o.length, 1);
  return __ballot_sync(whole_warp, o.length == above) & 0xfe;
}

// ---- runs of entries in one strip ----------------------------------------------------------

// Places count from the first of the entries at hand; `open` is where the last run began.
// `segments` and `weight` are a lane's, of all that it has met.
struct runs {
  const unsigned *weight_of; // shared memory
  int open;
  unsigned segments;
  unsigned long long weight;
};

__device__ __forceinline__ void close_run(runs &r, int from, int end)
{
  r.weight += r.weight_of[min(end - from, int{SHUNT_PROFILE_STRIP})];
}

// All lanes: the 32 entries from place `at` on.
__device__ __forceinline__ void count_runs(runs &r, int at, bool begins)
{
  const int lane = threadIdx.x % 32;
  const unsigned word = __ballot_sync(whole_warp, begins), below = word & ((1u << lane) - 1);
  const int end = at + lane, from = below ? at + 31 - __clz((int)below) : r.open;

  close_run(r, begins ? from : end, end);
  r.open = word ? at + 31 - __clz((int)word) : r.open;
}

template <class I, int width>
__device__ __forceinline__ bool same_run(const profile_job &g, I a, I b)
{
  return shunt_same_run(a, b, g.base, sizeof(I), width);
}

// ---- a pass over a group -------------------------------------------------------------------

// What it finds, as bits: r, row r differs from row r - 1; 8 + r, row r is unsorted; 16 + r, row r
// is crowded.
using masks = unsigned;

// The rows of a group, places counted from its first entry (L: int if that is enough).  Lane k of 0
// to 8 has where row k begins.
template <class L> struct group_places {
  L at, total;
};

// The last row that begins at or before p.
template <class L> __device__ __forceinline__ int row_of(const group_places<L> &o, L p)
{
  int row = p >= __shfl_sync(whole_warp, o.at, 4) ? 4 : 0;
  row += p >= __shfl_sync(whole_warp, o.at, row + 2) ? 2 : 0;
  return row + (p >= __shfl_sync(whole_warp, o.at, row + 1) ? 1 : 0);
}

// The 32 entries before p > 0; sets run.open, as far as 64 entries back.
template <class I, class L>
__device__ __forceinline__ I look_back(const profile_job &g, const group_places<L> &o,
                                       const I *columns, L p, runs &run)
{
  const L near = p - 32 + threadIdx.x % 32, far = near - 32;
  const I one = columns[near >= 0 ? near : 0], two = columns[far >= 0 ? far : 0];
  const L begin = __shfl_sync(whole_warp, o.at, row_of<L>(o, p - 1));
  const I last = __shfl_sync(whole_warp, one, 31);
  const bool near_same = near >= begin && same_run<I, SHUNT_PROFILE_STRIP>(g, one, last);
  const bool far_same = far >= begin && same_run<I, SHUNT_PROFILE_STRIP>(g, two, last);
  const unsigned other = ~__ballot_sync(whole_warp, near_same);
  const unsigned beyond = ~__ballot_sync(whole_warp, far_same);

  run.open = other ? -__clz((int)other) : -32 - __clz((int)beyond);
  return one;
}

// A warp's share of a group: its entries first .. end - 1, `batch` times 32 of them at a time.
template <class I, class L>
__device__ __forceinline__ masks scan(const profile_job &g, const group_places<L> &o,
                                      const I *columns, unsigned same, L first, L end, runs &run)
{
  constexpr int chunk = 32 * batch;
  const int lane = threadIdx.x % 32;
  const bool ends = end == o.total && first < end;
  masks found = 0;
  I last = 0; // of the 32 entries before

  run.open = 0;
  if (first > 0 && first < end) last = look_back<I, L>(g, o, columns, first, run);
  for (; first < end; first += chunk) {
    I column[batch], above[batch];
    unsigned bits[batch]; // as in masks: what may be found of the entry; 31: there is one
#pragma unroll
    for (int k = 0; k < batch; k++) {
      const L p = first + k * 32 + lane;
      const int row = row_of<L>(o, p);
      const L begin = __shfl_sync(whole_warp, o.at, row);
      const L length = begin - __shfl_sync(whole_warp, o.at, row > 0 ? row - 1 : 0);
      const bool there = p < end, compare = there && (same >> row & 1);
      bits[k] = (there ? 0x80000000u : 0) | (compare ? 1u << row : 0) |
                (there && p > begin ? 0x100u << row : 0) |
                (there && p > begin + 1 ? 0x10000u << row : 0);
      column[k] = there ? columns[p] : I(0);
      above[k] = compare ? columns[p - length] : column[k];
    }
#pragma unroll
    for (int k = 0; k < batch; k++) {
      const I previous = k > 0 ? column[k - 1] : last;
      const I before = __shfl_sync(whole_warp, lane == 31 ? previous : column[k], (lane + 31) % 32);
      const I second = __shfl_sync(whole_warp, lane >= 30 ? previous : column[k], (lane + 30) % 32);
      const bool follows = bits[k] & 0xff00, there = bits[k] >> 31;
      if (column[k] <= before) found |= bits[k] & 0xff00;
      if (same_run<I, 4>(g, column[k], second)) found |= bits[k] & 0xff0000;
      if (column[k] != above[k]) found |= bits[k] & 0xff;
      const bool same_strip = same_run<I, SHUNT_PROFILE_STRIP>(g, column[k], before);
      const bool begins = there && !(follows && same_strip);
      run.segments += begins;
      count_runs(run, k * 32, begins);
    }
    last = column[batch - 1];
    run.open -= chunk;
  }
  if (ends && lane == 0) close_run(run, run.open, (int)(end - first));
  return found;
}

// A warp's share if each of `warps` takes as much, in whole chunks.
template <class I, class L>
__device__ __forceinline__ masks scan_group(const profile_job &g, const group_offsets &o,
                                            unsigned same, int warp, int warps, runs &run)
{
  constexpr int chunk = 32 * batch;
  const int64_t start = __shfl_sync(whole_warp, o.at, 0);
  const L at = (L)(o.at - start), total = __shfl_sync(whole_warp, at, 8);
  const L share = (total + warps * chunk - 1) / (warps * chunk) * chunk;
  const L first = min(share * warp, total), end = min(first + share, total);
  const I *columns = static_cast<const I *>(g.columns) + start;
  return scan<I, L>(g, {at, total}, columns, same, first, end, run);
}

struct giant {
  masks found;
  unsigned segments;
  unsigned long long weight;
};

// Of a group of 2^30 entries or more.  Not inlined, and by value: others need the registers.
template <class I>
__device__ __noinline__ giant scan_giant(const profile_job &g, group_offsets o, unsigned same,
                                         int warp, int warps, const unsigned *weight_of)
{
  runs run = {weight_of, 0, 0, 0};
  const masks found = scan_group<I, int64_t>(g, o, same, warp, warps, run);
  return {found, run.segments, run.weight};
}

template <class I>
__device__ __forceinline__ masks scan_any(const profile_job &g, const group_offsets &o,
                                          unsigned same, int warp, int warps, runs &run)
{
  masks found;
  if (group_entries(o) < int64_t{1} << 30) {
    found = scan_group<I, int>(g, o, same, warp, warps, run);
  } else {
    const giant of = scan_giant<I>(g, o, same, warp, warps, run.weight_of);
    found = of.found;
    run.segments += of.segments;
    run.weight += of.weight;
  }
  return __reduce_or_sync(whole_warp, found);
}

} // namespace
} // namespace shunt
