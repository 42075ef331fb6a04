// csr_spmm_split_long.cuh: the long rows of the split kernel.
//
// A long block owns a window of A's nonzeros and multiplies all long rows that begin in
// it, to their ends:
//
//   window        |- - - - - - - - - - - - - - - - - - -|
//   rows       r0 x x|x x x x|x x x x x x x x|x|x x x x x x x x x x x x x x x x| r1 + 1
//                              long                long: this window's, too
//
// so its work is at most the window plus the longest row.  The rows r0 and r1 of the
// window's first and last nonzero are found by a search of all the block's threads.
//
// The block's long rows, at most kListed at a time, are taken as one list of nonzeros and
// cut into equal shares, one per warp; what a warp has of a row is a partial sum:
//
//   rows of the list |.......0.......|...1...|..........2..........|
//   shares           |....warp 0....|....warp 1....|....warp 2....|
//   partials          slot 0         1 2           3 4               slot = row + warp
//
// The partials of a row are added in the order of the warps.
#pragma once
#include "kernels/csr/split/csr_spmm_split_walk.cuh"

namespace shunt
{
namespace csr
{

constexpr int kListed = 24; // one row a lane of a warp
constexpr int kMostWarps = kThreads / 32;
constexpr int kScan = 4; // rows per thread and step, when long rows are looked for

template <class T, int V> struct long_list {
  int row[kListed], begin[kListed], end[kListed];
  int start[kListed + 1]; // in the list of nonzeros
  int found[kMostWarps];  // long rows among those that a warp looked at
  __align__(16) T partial[(kListed + kMostWarps) * kMostLongLanes * V];
};

// The rows that hold positions p0 and p1.  All threads of the block get both.
template <class T>
__device__ __forceinline__ void find_rows_of(const args<T> &a, int p0, int p1, int *row0, int *row1)
{
  const int threads = blockDim.x, rows = (int)a.rows;
  int low0 = 0, low1 = 0, width = rows; // the answers are in [low, low + width]
  auto ends_before = [&](int low, int at, int p) {
    return at < width && at < rows - low && load_low(a.offsets, low + at + 1, a.wide, a.base) <= p;
  };

  while (width > kProbes * threads) {
    const int step = (width + threads - 1) / threads;
    const int last = (threadIdx.x + 1) * step - 1; // of this thread's bucket of rows
    const bool before0 = ends_before(low0, last, p0), before1 = ends_before(low1, last, p1);
    low0 += __syncthreads_count(before0) * step;
    low1 += __syncthreads_count(before1) * step;
    width = step - 1;
  }
  bool before0[kProbes], before1[kProbes];
#pragma unroll
  for (int k = 0; k < kProbes; k++) {
    before0[k] = ends_before(low0, threadIdx.x + k * threads, p0);
    before1[k] = ends_before(low1, threadIdx.x + k * threads, p1);
  }
#pragma unroll
  for (int k = 0; k < kProbes; k++) {
    low0 += __syncthreads_count(before0[k]);
    low1 += __syncthreads_count(before1[k]);
  }
  *row0 = low0;
  *row1 = low1;
}

// The first `count` rows of the list; all threads of the block.
template <bool WHOLE, class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_listed(const args<T> &a, int lanes_log2, int count,
                                                const lane_columns<S, V> &c, batch<T> &mine,
                                                long_list<T, V> &list)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int width = V << lanes_log2, in_group = lane & ((1 << lanes_log2) - 1);

  // Every warp for itself: where the rows start in the list of nonzeros.
  const int begin = lane < count ? list.begin[lane] : 0;
  const int length = lane < count ? list.end[lane] - begin : 0;
  int stop = length;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int before = __shfl_up_sync(~0u, stop, d);
    if (lane >= d) stop += before;
  }
  const int start = stop - length, all = __shfl_sync(~0u, stop, 31);
  if (warp == 0 && lane <= count) list.start[lane] = start;

  const int chunks = CHUNK << (5 - lanes_log2); // of all groups of a warp
  const int share = (all + warps * chunks - 1) / (warps * chunks) * chunks;
  const int low = warp * share, high = min(all, low + share);
  for (unsigned rows = __ballot_sync(~0u, lane < count && start < high && stop > low); rows;
       rows &= rows - 1) {
    const int i = __ffs(rows) - 1;
    const int first = __shfl_sync(~0u, start, i);
    const int from = max(first, low), to = min(__shfl_sync(~0u, stop, i), high);
    const int at = __shfl_sync(~0u, begin, i) - first;
    T sum[V];
    set_zero<T, V>(sum);
    walk<CHUNK == kChunk, WHOLE, S, T, V, CHUNK>(a, c.b, at + from, at + to, 5, lanes_log2, mine,
                                                 sum);
    add_groups<T, V>(5, lanes_log2, sum);
    if (lane == in_group) wide<T, V>::store(list.partial + (i + warp) * width + lane * V, sum);
  }
  __syncthreads();

  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  for (int i = threadIdx.x >> lanes_log2; i < count; i += blockDim.x >> lanes_log2) {
    const int last = (list.start[i + 1] - 1) / share;
    T total[V];
    set_zero<T, V>(total);
    for (int w = list.start[i] / share; w <= last; w++) {
      T piece[V];
      wide<T, V>::load(piece, list.partial + (i + w) * width + in_group * V);
#pragma unroll
      for (int e = 0; e < V; e++) total[e] = add(total[e], piece[e]);
    }
    if (c.active) store_row<Out, T, V>(a, list.row[i], c.col, total, scalars);
  }
}

// Lists the long ones among the rows [base, base + kScan x threads) in an order of its own, but
// always the same: by warp, by k, by lane.  Of those up to `last` that begin at `window` or behind
// it, writes the ones whose place is in [done, done + kListed).  before: how many the warps before
// found.  Returns that and what this warp found; reads the offsets anew each time, since registers
// are scarcer than L1.
template <class T, int V>
__device__ __forceinline__ int list_long_rows(const args<T> &a, int limit, int window, int base,
                                              int last, int before, int done, long_list<T, V> &list)
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < kScan; k++) {
    const int r = base + k * (int)blockDim.x + (int)threadIdx.x;
    int begin = 0, end = 0;
    if (r <= last && r < a.rows) {
      begin = load_low(a.offsets, r, a.wide, a.base);
      end = load_low(a.offsets, r + 1, a.wide, a.base);
    }
    const bool is_long = end - begin > limit && begin >= window;
    const unsigned others = __ballot_sync(~0u, is_long);
    const int at = before + __popc(others & ((1u << lane) - 1)) - done;
    before += __popc(others);
    if (!is_long || at < 0 || at >= kListed) continue;
    list.row[at] = r;
    list.begin[at] = begin;
    list.end[at] = end;
  }
  return before;
}

// WHOLE: as in walk.
template <bool WHOLE, class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_long_rows(const args<T> &a, const split_args &s,
                                                   batch<T> &mine, long_list<T, V> &list)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const lane_columns<S, V> c(a, blockIdx.x % s.long_slices, s.long_lanes_log2);
  const int window = (int)(blockIdx.x / s.long_slices) * s.window;
  int row0, row1;
  find_rows_of(a, window, min(window + s.window, (int)a.nonzeros) - 1, &row0, &row1);

  for (int base = row0; base <= row1; base += kScan * (int)blockDim.x) {
    const int found = list_long_rows(a, s.limit, window, base, row1, 0, INT32_MAX, list);
    if (!__syncthreads_or(found)) continue;
    if (lane == 0) list.found[warp] = found;
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < warps; w++) {
      before += w < warp ? list.found[w] : 0;
      all += list.found[w];
    }
    for (int done = 0; done < all; done += kListed) {
      list_long_rows(a, s.limit, window, base, row1, before, done, list);
      __syncthreads();
      multiply_listed<WHOLE, S, Out, T, V, CHUNK>(a, s.long_lanes_log2, min(kListed, all - done), c,
                                                  mine, list);
      __syncthreads(); // the list has been read
    }
  }
}

} // namespace csr
} // namespace shunt
