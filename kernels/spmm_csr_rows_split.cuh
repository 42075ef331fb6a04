// spmm_csr_rows_split.cuh: the kernel that gives each row of A a group of lanes.
//
// One launch, no search, no workspace: the shortest way from a row's offsets to its
// sums, for matrices whose rows are known to be of moderate length.  It is right for
// all of them: what is beyond `limit` in a row is walked by the whole block.
//
//   block      groups of `lanes` threads, one row of C each
//   group      lanes x V columns of C; grid.y walks further columns
//
//   row       |c c c c c c c c c c c c c c c c c c c c c c . . .|  nonzeros
//              '------- batch of 32 -------' '---- batch ----
//   A batch's columns and values go to shared memory, one coalesced load each, and
//   come back 16 bytes at a time; 8 rows of B are then in flight per lane.
//
// Neighbouring rows are in one block at the same time: where they share columns (finite
// elements), B comes from L1.
//
// Rows longer than `limit`, after all others: group g takes batches g, g + groups,
// .. of the row; the groups' sums are added in the order of g.
#pragma once
#include "kernels/spmm_csr_rows_tiled.cuh"

namespace shunt {
namespace spmm_rows {

constexpr int kBatch = 32;
constexpr int kLeastLanes = 4;  // so that batches of all groups fit in shared memory
constexpr int kMostGroups = kThreads / kLeastLanes;

// A group's batch: columns and values as they are multiplied.
template <class T> struct batch {
  uint32_t column[kBatch];
  T value[kBatch];
};

// sum[e] += over the nonzeros [begin, end), at most kBatch of them, of one row.
// All lanes of a warp come here together, with ranges of their own.
template <class S, class T, int V>
__device__ __forceinline__ void walk_batch(const args<T> &a, const char *b, int64_t begin,
                                           int count, int lane, int lanes, batch<T> &mine, T *sum)
{
  const S *values = static_cast<const S *>(a.values);
  __syncwarp();  // the batch before has been read
  for (int i = lane; i < kBatch; i += lanes) {
    bool real = i < count;
    mine.column[i] =
        real ? (uint32_t)(load_index(a.columns, begin + i, a.wide) - a.base) : 0u;
    mine.value[i] = real ? widen<T>(values[begin + i]) : T(0);
  }
  __syncwarp();
  for (int step = 0; __any_sync(~0u, step < count); step += kChunk) {
    b_word<S, V> x[kChunk];
    uint32_t column[kChunk];
    T value[kChunk];
    const int left = count - step;
    const int at = left > 0 ? step : 0;
    wide<uint32_t, kChunk>::load(column, mine.column + at);
    if (left >= kChunk) {
#pragma unroll
      for (int u = 0; u < kChunk; u++) x[u].load(b + (uint64_t)column[u] * a.b_row_bytes);
    } else {
      // What is not stored is not multiplied: B may hold a NaN there.
#pragma unroll
      for (int u = 0; u < kChunk; u++) {
        x[u].clear();
        if (u < left) x[u].load(b + (uint64_t)column[u] * a.b_row_bytes);
      }
    }
    wide<T, kChunk>::load(value, mine.value + at);
#pragma unroll
    for (int u = 0; u < kChunk; u++) x[u].multiply_into(sum, u < left ? value[u] : T(0));
  }
}

template <class S, class Out, class T, int V>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    spmm_csr_rows_split(const __grid_constant__ args<T> a, int64_t limit)
{
  __shared__ __align__(16) batch<T> batches[kMostGroups];
  __shared__ __align__(16) T partial[kThreads * V];
  __shared__ unsigned char is_long[kMostGroups];
  const int lanes = 1 << a.lanes_log2, groups = kThreads >> a.lanes_log2;
  const int group = threadIdx.x >> a.lanes_log2, lane = threadIdx.x & (lanes - 1);
  const int64_t first_row = (int64_t)blockIdx.x * groups, row = first_row + group;
  const int64_t tile_col = (int64_t)blockIdx.y * lanes * V, col = tile_col + lane * V;
  const bool active = col < a.n;
  // Lanes beyond the last column repeat their group's first: no branches, no stores.
  const char *b =
      static_cast<const char *>(a.b) + (active ? col : tile_col) * (int64_t)sizeof(S);

  int64_t begin = 0, end = 0;
  if (row < a.rows) {
    begin = load_index(a.offsets, row, a.wide) - a.base;
    end = load_index(a.offsets, row + 1, a.wide) - a.base;
  }
  const T scalars[2] = { a.alpha.get(), a.beta.get() };
  const bool postponed = end - begin > limit;
  const int64_t stop = postponed ? begin : end;
  T sum[V];
#pragma unroll
  for (int e = 0; e < V; e++) sum[e] = T(0);
  for (int64_t p = begin; __any_sync(~0u, p < stop); p += kBatch)
    walk_batch<S, T, V>(a, b, p, (int)max((int64_t)0, min((int64_t)kBatch, stop - p)), lane, lanes,
                        batches[group], sum);
  if (row < a.rows && !postponed && active) store_row<Out, T, V>(a, row, col, sum, scalars);

  if (lane == 0) is_long[group] = postponed;
  if (!__syncthreads_or(postponed)) return;
  for (int g = 0; g < groups; g++) {
    if (!is_long[g]) continue;
    const int64_t from = load_index(a.offsets, first_row + g, a.wide) - a.base;
    const int64_t to = load_index(a.offsets, first_row + g + 1, a.wide) - a.base;
#pragma unroll
    for (int e = 0; e < V; e++) sum[e] = T(0);
    for (int64_t p = from + group * kBatch; __any_sync(~0u, p < to); p += groups * kBatch)
      walk_batch<S, T, V>(a, b, p, (int)max((int64_t)0, min((int64_t)kBatch, to - p)), lane, lanes,
                          batches[group], sum);
    __syncthreads();  // the sums before have been read
    wide<T, V>::store(partial + threadIdx.x * V, sum);
    __syncthreads();
    if (group == g && active) {
      T total[V];
#pragma unroll
      for (int e = 0; e < V; e++) total[e] = T(0);
      for (int k = 0; k < groups; k++) {
        T piece[V];
        wide<T, V>::load(piece, partial + ((k << a.lanes_log2) + lane) * V);
#pragma unroll
        for (int e = 0; e < V; e++) total[e] = add(total[e], piece[e]);
      }
      store_row<Out, T, V>(a, first_row + g, col, total, scalars);
    }
  }
}

}  // namespace spmm_rows
}  // namespace shunt
