// csr_spmm_merge_join.cuh: the kernel that finishes the rows that were cut.
//
//   tile         t         t + 1      t + 2  ..  t + more
//   partial   tails[t]   heads[t+1] heads[t+2] .. heads[t + more]   -> row cuts[t].row
//
// One warp looks after one tile: a row of few partials it adds itself, 4 columns a
// lane; a row of many is left to the whole block, whose teams add neighbouring
// partials and then each other's sums.  Either way the order depends on `more` and
// n alone.
#pragma once
#include "kernels/csr/csr_spmm.cuh"

namespace shunt
{
namespace csr
{

constexpr int kJoinWarps = kThreads / 32;
constexpr int kJoinColumns = 4; // of a thread
constexpr int kJoinAlone = 16;  // partials that a warp adds without help

// sum[0 .. 3] += partials k in [begin, end) of the row cut at tile t.
template <class T>
__device__ __forceinline__ void add_partials(const args<T> &a, int64_t t, int begin, int end,
                                             int64_t col, T *sum)
{
  static_assert(kJoinColumns * sizeof(T) % 16 == 0, "moved in pieces of 16 bytes");
  constexpr int kPiece = 16 / (int)sizeof(T);
#pragma unroll 4
  for (int k = begin; k < end; k++) {
    const T *from = (k == 0 ? a.tails : a.heads) + (t + k) * a.pitch + col;
#pragma unroll
    for (int i = 0; i < kJoinColumns; i += kPiece) {
      vec<T, kPiece> x = *reinterpret_cast<const vec<T, kPiece> *>(from + i);
#pragma unroll
      for (int e = 0; e < kPiece; e++) sum[i + e] = add(sum[i + e], x.at[e]);
    }
  }
}

template <class Out, class T>
__device__ __forceinline__ void store_columns(const args<T> &a, int64_t row, int64_t col,
                                              const T *sum)
{
  const T alpha = a.alpha.get(), beta = a.beta.get();
#pragma unroll
  for (int e = 0; e < kJoinColumns; e++)
    if (col + e < a.n) store_element<Out>(a, row, col + e, sum[e], alpha, beta);
}

template <class Out, class T>
__device__ __forceinline__ void join_by_warp(const args<T> &a, int64_t t, cut_row cut)
{
  for (int64_t col = threadIdx.x % 32 * kJoinColumns; col < a.n; col += 32 * kJoinColumns) {
    T sum[kJoinColumns] = {};
    add_partials(a, t, 0, cut.more + 1, col, sum);
    store_columns<Out>(a, cut.row, col, sum);
  }
}

// All threads of the block; `scratch` holds kThreads * kJoinColumns elements.
template <class Out, class T>
__device__ __forceinline__ void join_by_block(const args<T> &a, int64_t t, cut_row cut, T *scratch)
{
  int lanes = 1; // threads that cover the columns, a warp at most: a team
  while (lanes < 32 && lanes * kJoinColumns < a.n) lanes *= 2;
  const int teams = kThreads / lanes, team = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const int partials = cut.more + 1;
  const int share = (partials + teams - 1) / teams;
  const int begin = min(partials, team * share), end = min(partials, begin + share);

  for (int64_t base = 0; base < a.n; base += lanes * kJoinColumns) {
    const int64_t col = base + lane * kJoinColumns;
    T sum[kJoinColumns] = {};
    if (col < a.n) add_partials(a, t, begin, end, col, sum);
    for (int e = 0; e < kJoinColumns; e++) scratch[e * kThreads + threadIdx.x] = sum[e];
    __syncthreads();
    if (team == 0 && col < a.n) {
      for (int k = 1; k < teams; k++)
        for (int e = 0; e < kJoinColumns; e++)
          sum[e] = add(sum[e], scratch[e * kThreads + k * lanes + lane]);
      store_columns<Out>(a, cut.row, col, sum);
    }
    __syncthreads();
  }
}

template <class Out, class T>
__global__ void __launch_bounds__(kThreads)
    spmm_merge_join(const __grid_constant__ args<T> a, int64_t tiles)
{
  __shared__ T scratch[kThreads * kJoinColumns];
  __shared__ cut_row cuts[kJoinWarps];
#if __CUDA_ARCH__ >= 900
  // Launched while the tiles still run; nothing of theirs is read before this.
  cudaGridDependencySynchronize();
#endif
  const int warp = threadIdx.x / 32;
  const int64_t first = (int64_t)blockIdx.x * kJoinWarps;
  cut_row cut = {-1, 0};
  if (first + warp < tiles) cut = a.cuts[first + warp];
  const bool alone = cut.row >= 0 && cut.more < kJoinAlone;

  if (threadIdx.x % 32 == 0) {
    cuts[warp] = cut;
    if (alone) cuts[warp].row = -1; // none of the block's business
  }
  if (alone) join_by_warp<Out>(a, first + warp, cut);
  if (!__syncthreads_or(cut.row >= 0 && !alone)) return;
  for (int w = 0; w < kJoinWarps; w++)
    if (cuts[w].row >= 0) join_by_block<Out>(a, first + w, cuts[w], scratch);
}

} // namespace csr
} // namespace shunt
