// csr_spmm_split_words.cuh: the split kernel where a lane has two words of a row of B
// (csr_spmm_split_walk.cuh): C has half as many slices, so that A is read, staged and looked up
// half as often.  For wide C, whose columns are whole slices.
//
//   columns  | lane 0 | lane 1 | .. | lane 7 | lane 0 | lane 1 | .. | lane 7 |     group of 8
//             `---------- word 0 -----------' `---------- word 1 -----------'
//
// A row has its team alone, as sums and rows of B leave no registers for helping each other: so of
// rows that differ little, without long blocks.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/split/csr_spmm_split_walk.cuh"

namespace shunt
{
namespace csr
{

constexpr int kWordsThreads = kThreads / 2;
constexpr int kWordsChunk = 4; // rows of B in flight per lane, two words of each

// The columns of C that a lane looks after.
template <class S, int V> struct lane_words {
  static constexpr int kWords = 2;
  int col, apart; // of the first word; from one to the next
  const char *b;  // column col of row 0 of B, as A's columns come with their base

  template <class T>
  __device__ __forceinline__ lane_words(const args<T> &a, uint32_t slice, int lanes_log2)
      : apart(V << lanes_log2)
  {
    col = (int)slice * kWords * apart + (threadIdx.x & ((1 << lanes_log2) - 1)) * V;
    b = static_cast<const char *>(a.b) + col * (int64_t)sizeof(S) -
        static_cast<int64_t>(a.base) * a.b_row_bytes;
  }
  __device__ __forceinline__ int step() const { return apart * (int)sizeof(S); }

  template <class Out, class T>
  __device__ __forceinline__ void store(const args<T> &a, int row, const T *sum,
                                        const T *scalars) const
  {
#pragma unroll
    for (int w = 0; w < kWords; w++)
      store_row<Out, T, V>(a, row, col + w * apart, sum + w * V, scalars);
  }
};

template <class S, class Out, class T, int V>
__global__ void __launch_bounds__(kWordsThreads, 2 * kBlocksPerSm)
    spmm_split_words(const __grid_constant__ args<T> a, const __grid_constant__ split_args s)
{
  __shared__ __align__(16) batch<T> batches[kWordsThreads / 32];
  wait_for_previous();
  const int lane = threadIdx.x % 32, in_team = lane & ((1 << s.team_log2) - 1);
  uint32_t slice, block;
  place_of(s, &slice, &block);
  const lane_words<S, V> c(a, slice, s.lanes_log2);
  const uint32_t row = block * (kWordsThreads >> s.team_log2) + (threadIdx.x >> s.team_log2);
  int begin = 0, end = 0;
  if (row < (uint32_t)a.rows) {
    begin = load_low(a.offsets, row, a.wide, a.base);
    end = load_low(a.offsets, row + 1, a.wide, a.base);
  }
  constexpr int kColumns = c.kWords * V;
  T sum[kColumns];
  set_zero<T, kColumns>(sum);
  walk<false, true, S, T, V, kWordsChunk, c.kWords>(a, c.b, begin, end, s.team_log2, s.lanes_log2,
                                                    batches[threadIdx.x / 32], sum, c.step());
  add_groups<T, kColumns>(s.team_log2, s.lanes_log2, sum);
  if (row >= (uint32_t)a.rows || in_team >> s.lanes_log2) return;
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  c.template store<Out>(a, row, sum, scalars);
}

} // namespace csr
} // namespace shunt
