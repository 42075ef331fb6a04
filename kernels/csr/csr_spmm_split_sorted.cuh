// csr_spmm_split_sorted.cuh: rows in the order of their lengths.
//
// Neighbouring rows of a graph differ in length, and all teams of a warp wait for its longest row.
// So a block takes one row for each of its threads, and sorts them in shared memory first, by
// classes of lengths:
//
//   rows      |2  |0  |90 |1  |40 |0  |3  |.. |     lengths, one a thread
//   sorted    |90 |40 |.. |3  |2  |1  |0  |0  |     those beyond `limit` are the long blocks'
//   taken by   warp|team|team ..              a row of `wide` or more by a warp, others by a team
//
// Warps take rows from a shared counter, the longest first, so that a block's warps end together.
// Which row stands where in its class, and who takes it, is not the same each time; the sum of a row
// is, as it depends on the row's length alone.
#pragma once
#include "kernels/csr/csr_spmm_split_walk.cuh"

namespace shunt
{
namespace csr
{

constexpr int kLengthClasses = 64; // 0: the longest rows

// Lengths below 32 have a class each, others one for 16: a length that 16 divides begins a class.
__device__ __forceinline__ int length_class(int length)
{
  return kLengthClasses - 1 - (length < 32 ? length : min(30 + length / 16, kLengthClasses - 1));
}

// The rows of a block, sorted.
struct sorted_rows {
  int row[kThreads], begin[kThreads], length[kThreads];
  int first[kLengthClasses]; // of each class, in that order; while they are counted, how many
  int all, wide;             // rows; those of `wide` entries or more
  int taken;
};

// count[i] = count[0] + .. + count[i - 1]; returns the sum of all.  One warp.
__device__ __forceinline__ int add_up_classes(int *count)
{
  static_assert(kLengthClasses == 64, "two a lane");
  const int lane = threadIdx.x % 32, one = count[2 * lane], both = one + count[2 * lane + 1];
  int sum = both;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const int before = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += before;
  }
  count[2 * lane] = sum - both;
  count[2 * lane + 1] = sum - both + one;
  return __shfl_sync(~0u, sum, 31);
}

// All threads of the block.
template <class T>
__device__ __forceinline__ void sort_rows(const args<T> &a, const split_args &s, int first_row,
                                          sorted_rows &x)
{
  const int thread = threadIdx.x, lane = thread % 32, row = first_row + thread;
  if (thread < kLengthClasses) x.first[thread] = 0;
  if (thread == 0) x.wide = x.taken = 0;
  __syncthreads();

  int begin = 0, length = 0, kind = -1; // no row of these blocks
  if (row < (int)a.rows) {
    begin = load_low(a.offsets, row, a.wide, a.base);
    length = load_low(a.offsets, row + 1, a.wide, a.base) - begin;
    if (length <= s.limit) kind = length_class(length);
  }
  const unsigned same = __match_any_sync(~0u, kind);
  const int leader = __ffs(same) - 1;
  int place = 0; // in its class
  if (kind >= 0 && lane == leader) place = atomicAdd(&x.first[kind], __popc(same));
  place = __shfl_sync(~0u, place, leader) + __popc(same & ((1u << lane) - 1));
  const int wide = __popc(__ballot_sync(~0u, kind >= 0 && length >= s.wide));
  if (lane == 0 && wide) atomicAdd(&x.wide, wide);
  __syncthreads();

  if (thread < 32) {
    const int all = add_up_classes(x.first);
    if (lane == 0) x.all = all;
  }
  __syncthreads();
  if (kind >= 0) {
    const int at = x.first[kind] + place;
    x.row[at] = row, x.begin[at] = begin, x.length[at] = length;
  }
  __syncthreads();
}

template <class S, class Out, class T, int V, int CHUNK>
__device__ __forceinline__ void multiply_sorted_rows(const args<T> &a, const split_args &s,
                                                     batch<T> &mine, sorted_rows &x)
{
  const int lane = threadIdx.x % 32;
  const uint32_t from = blockIdx.x - s.long_blocks, slice = from / s.row_blocks;
  const lane_columns<S, V> c(a, slice, s.lanes_log2);
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  sort_rows(a, s, (int)((from - slice * s.row_blocks) * blockDim.x), x);

  const int wide = x.wide, all = x.all;
  for (;;) {
    int turn = 0;
    if (lane == 0) turn = atomicAdd(&x.taken, 1);
    turn = __shfl_sync(~0u, turn, 0);
    const int team_log2 = turn < wide ? 5 : s.team_log2;
    const int first = turn < wide ? turn : wide + (turn - wide) * (32 >> s.team_log2);
    if (first >= all) break;
    const int at = first + (lane >> team_log2);
    const int begin = at < all ? x.begin[at] : 0, end = at < all ? begin + x.length[at] : 0;
    T sum[V];
    set_zero<T, V>(sum);
    walk<false, true, S, T, V, CHUNK>(a, c.b, begin, end, team_log2, s.lanes_log2, mine, sum);
    add_groups<T, V>(team_log2, s.lanes_log2, sum);
    if (at < all && c.active && (lane & ((1 << team_log2) - 1)) >> s.lanes_log2 == 0)
      store_row<Out, T, V>(a, x.row[at], c.col, sum, scalars);
  }
}

} // namespace csr
} // namespace shunt
