// csr_spmm_split_unstaged.cuh: the split kernel for narrow C: a team each row, its nonzeros straight
// from A (csr_spmm_split_walk_unstaged.cuh); long rows by long blocks, if there are any.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/split/csr_spmm_split_long.cuh"
#include "kernels/csr/split/csr_spmm_split_walk_unstaged.cuh"

namespace shunt
{
namespace csr
{

template <class S, class Out, class T, int V>
__device__ __forceinline__ void multiply_rows_unstaged(const args<T> &a, const split_args &s)
{
  const int lane = threadIdx.x % 32, teams = 32 >> s.team_log2;
  uint32_t slice, block;
  place_of(s, &slice, &block);
  const uint32_t warp = block * (blockDim.x / 32) + threadIdx.x / 32;
  const uint32_t row = warp * teams + (lane >> s.team_log2);
  int begin = 0, end = 0;
  if (row < (uint32_t)a.rows) {
    begin = load_low(a.offsets, row, a.wide, a.base);
    end = load_low(a.offsets, row + 1, a.wide, a.base);
  }
  const bool ours = row < (uint32_t)a.rows && end - begin <= s.limit;
  multiply_unstaged<true, S, Out, T, V>(a, lane_columns<S, V>(a, slice, s.lanes_log2),
                                        ours ? (int)row : -1, begin, ours ? end : begin,
                                        s.team_log2, s.lanes_log2);
}

// Blocks of a multiprocessor: the sums of long blocks, of 8 columns a lane, need more registers.
constexpr int unstaged_blocks(bool has_long, int V)
{
  return has_long && V > 4 ? kBlocksPerSm : kUnstagedBlocks;
}

// LONG: there are long blocks.  The grid is that of the split kernel.
template <bool LONG, class S, class Out, class T, int V>
__global__ void __launch_bounds__(kThreads, unstaged_blocks(LONG, V))
    spmm_split_unstaged(const __grid_constant__ args<T> a, const __grid_constant__ split_args s)
{
  wait_for_previous();
  if constexpr (LONG) {
    __shared__ __align__(16) batch<T> batches[kMostWarps];
    __shared__ __align__(16) long_list<T, V> list;
    if (blockIdx.x < s.long_blocks)
      return multiply_long_rows<false, S, Out, T, V, kUnstagedChunk>(
          a, s, batches[threadIdx.x / 32], list);
  }
  multiply_rows_unstaged<S, Out, T, V>(a, s);
}

} // namespace csr
} // namespace shunt
