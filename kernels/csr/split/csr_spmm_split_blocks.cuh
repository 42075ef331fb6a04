// csr_spmm_split_blocks.cuh: the split kernel for few rows: a block each, whose warps share it.
//
// Where rows are few a warp each would leave most of the device idle, and wait once for each batch of
// its row.  All warps of a block wait together:
//
//   staged     |.... warp 0 ....|.... warp 1 ....| .. |.. warp W-1 ..|     equal shares of a row, each
//                                                                          whole chunks of its groups
//   unstaged   |x x x x|x x x x| .. |x x x x|x x x x| ..                   an entry a group, by turns:
//               warp 0  warp 1       warp 0                                narrow C
//
//   grid.x     | row 0 | row 1 | .. of slice 0 | row 0 | row 1 | .. of slice 1 | ..
//
// Partial sums of the warps are added in the order of the warps.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/split/csr_spmm_split_walk_unstaged.cuh"

namespace shunt
{
namespace csr
{

constexpr int kMostRowWarps = 8;

template <bool STAGED, class T> struct row_batches {
  batch<T> of_warp[kMostRowWarps];
};
template <class T> struct row_batches<false, T> {
};

// The warp's part of the row that is A's entries [begin, end).
template <bool STAGED, class S, class T, int V>
__device__ __forceinline__ void walk_part(const args<T> &a, const char *b, int begin, int end,
                                          int lanes_log2, row_batches<STAGED, T> &batches, T *sum)
{
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if constexpr (STAGED) {
    const int chunks = kChunk << (5 - lanes_log2); // of all groups of a warp
    const int share = (end - begin + warps * chunks - 1) / (warps * chunks) * chunks;
    const int low = min(end, begin + warp * share);
    walk<true, true, S, T, V, kChunk>(a, b, low, min(end, low + share), 5, lanes_log2,
                                      batches.of_warp[warp], sum);
  } else {
    walk_unstaged<true, S, T, V>(a, b, begin + (int)(threadIdx.x >> lanes_log2), end,
                                 (int)blockDim.x >> lanes_log2, sum);
    __syncwarp();
  }
}

template <bool STAGED, class S, class Out, class T, int V>
__global__ void __launch_bounds__(32 * kMostRowWarps, STAGED ? kBlocksPerSm : kUnstagedBlocks)
    spmm_split_blocks(const __grid_constant__ args<T> a, const __grid_constant__ split_args s)
{
  __shared__ __align__(16) row_batches<STAGED, T> batches;
  __shared__ __align__(16) T partial[kMostRowWarps][32 * V];
  wait_for_previous();

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, lanes = 1 << s.lanes_log2;
  uint32_t slice, row;
  place_of(s, &slice, &row);
  const lane_columns<S, V> c(a, slice, s.lanes_log2);
  const int begin = load_low(a.offsets, (int)row, a.wide, a.base);
  const int end = load_low(a.offsets, (int)row + 1, a.wide, a.base);
  T sum[V];
  set_zero<T, V>(sum);
  walk_part<STAGED, S, T, V>(a, c.b, begin, end, s.lanes_log2, batches, sum);
  add_groups<T, V>(5, s.lanes_log2, sum);
  if (lane < lanes) wide<T, V>::store(partial[warp] + lane * V, sum);
  __syncthreads();
  if ((int)threadIdx.x >= lanes || !c.active) return;
  for (int w = 1; w < (int)blockDim.x / 32; w++) {
    T piece[V];
    wide<T, V>::load(piece, partial[w] + lane * V);
#pragma unroll
    for (int e = 0; e < V; e++) sum[e] = add(sum[e], piece[e]);
  }
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  store_row<Out, T, V>(a, row, c.col, sum, scalars);
}

} // namespace csr
} // namespace shunt
