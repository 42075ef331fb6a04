// sorted_spmm_long.cuh: the long rows: a block each, and of the longest a cluster each.
//
//   grid.x    | cluster 0 | cluster 1 | .. | cluster h | ..         of `cluster` blocks
//             | row 0, slice 0        | .. | a row and slice a block ..
//
// The warps of the blocks that have a row in common take equal shares of it; what each has is a
// partial sum.  Partial sums are added in the order of the warps, then in that of the blocks, which
// the first block reads out of the others' shared memory:
//
//   row       |.. warp 0 ..|.. warp 1 ..| .. |.. warp 7 ..|.. warp 0 ..| ..      shares
//              `----------- block 0 --------------------' `---- block 1 ----
//   sums      warps of a block -> of_block -> first block -> C
//
// It lets the kernel of the other rows in at once: neither reads what the other writes.
#pragma once
#include "kernels/ptx/cluster_load.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/sorted/sorted_spmm.cuh"

namespace shunt
{
namespace sorted
{

constexpr int kLongChunk = 8;
constexpr int kMostLongLanes = 32;

struct long_args {
  const uint32_t *order;
  int huge, longs; // rows that have a cluster each; all long ones
  int lanes_log2, slices, cluster;
  bool lets_in; // the kernel of the other rows is next
};

// Partial sums of a block.
template <class T, int V> struct long_sums {
  __align__(16) T of_warp[kWarps][kMostLongLanes * V];
  __align__(16) T of_block[kMostLongLanes * V];
};

// sum += the V elements at `from`, of this block.
template <class T, int V> __device__ __forceinline__ void add_sums(const T *from, T *sum)
{
  T x[V];
  csr::wide<T, V>::load(x, from);
#pragma unroll
  for (int e = 0; e < V; e++) sum[e] = add(sum[e], x[e]);
}

// The same, of another block of the cluster.
template <class T, int V>
__device__ __forceinline__ void add_sums_of(const T *from, uint32_t rank, T *sum)
{
#if __CUDA_ARCH__ >= 900
  constexpr int kEach = 16 / (int)sizeof(T);
#pragma unroll
  for (int i = 0; i < V; i += kEach) {
    const float4 bits = ptx::cluster_load_4(ptx::shared_address(from + i), rank);
    T x[kEach];
    memcpy(x, &bits, 16);
#pragma unroll
    for (int e = 0; e < kEach; e++) sum[i + e] = add(sum[i + e], x[e]);
  }
#endif
}

// The block's sums have been written; the first block's first lanes get those of all.  All threads.
template <class T, int V>
__device__ __forceinline__ void add_blocks(int blocks, bool adds, const T *of_block, T *sum)
{
#if __CUDA_ARCH__ >= 900
  ptx::cluster_barrier();
  if (adds) {
    csr::set_zero<T, V>(sum);
    for (int rank = 0; rank < blocks; rank++) add_sums_of<T, V>(of_block, rank, sum);
  }
  ptx::cluster_barrier(); // the sums have been read
#endif
}

template <class S, class Out, class T, int V>
__global__ void __launch_bounds__(kThreads, 4)
    multiply_long_rows(const __grid_constant__ args<T> a, const __grid_constant__ long_args s)
{
  __shared__ __align__(16) batch<T> batches[kWarps];
  __shared__ __align__(16) long_sums<T, V> sums;
  wait_for_previous();
  if (s.lets_in) let_next_in();

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int cluster = blockIdx.x / s.cluster, rank = blockIdx.x % s.cluster;
  const bool joint = cluster < s.huge * s.slices;
  const int unit =
      joint ? cluster : s.huge * s.slices + (cluster - s.huge * s.slices) * s.cluster + rank;
  const int at = unit / s.slices;
  const csr::lane_columns<S, V> c(a, unit % s.slices, s.lanes_log2);
  int row = -1, begin = 0, end = 0;
  if (at < s.longs) {
    row = (int)__ldg(s.order + at);
    begin = csr::load_low(a.offsets, row, a.wide, a.base);
    end = csr::load_low(a.offsets, row + 1, a.wide, a.base);
  }
  const int warps = joint ? kWarps * s.cluster : kWarps;
  const int chunks = kLongChunk << (5 - s.lanes_log2); // of all groups of a warp
  const int share = (end - begin + warps * chunks - 1) / (warps * chunks) * chunks;
  const int low = min(end, begin + (joint ? rank * kWarps + warp : warp) * share);

  T sum[V];
  csr::set_zero<T, V>(sum);
  csr::walk<true, true, S, T, V, kLongChunk>(a, c.b, low, min(end, low + share), 5, s.lanes_log2,
                                             batches[warp], sum);
  csr::add_groups<T, V>(5, s.lanes_log2, sum);
  const bool adds = threadIdx.x < 1u << s.lanes_log2;
  if (lane < 1 << s.lanes_log2) csr::wide<T, V>::store(sums.of_warp[warp] + lane * V, sum);
  __syncthreads();
  if (adds) {
    csr::set_zero<T, V>(sum);
    for (int w = 0; w < kWarps; w++) add_sums<T, V>(sums.of_warp[w] + lane * V, sum);
    if (joint) csr::wide<T, V>::store(sums.of_block + lane * V, sum);
  }
  if (joint) add_blocks<T, V>(s.cluster, adds && rank == 0, sums.of_block + lane * V, sum);
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  if (row >= 0 && adds && c.active && (!joint || rank == 0))
    csr::store_row<Out, T, V>(a, row, c.col, sum, scalars);
}

} // namespace sorted
} // namespace shunt
