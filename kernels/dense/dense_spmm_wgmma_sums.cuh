// dense_spmm_wgmma_sums.cuh: the sums of warpgroups and of blocks that share a tile's K, for
// dense_spmm_wgmma.cuh.
//
// Sums stand in registers as wgmma leaves them (ptx/wgmma.cuh).  Each of two warpgroups has a part
// of all of a tile's sums, 32 a thread; it leaves those of the other's 32 columns,
//
//   exchanged   by group 0: | sums 16 .. 19 of threads 0 .. 127 | 20 .. 23 | .. | 28 .. 31 |
//               by group 1: | sums 0 .. 3                       | 4 .. 7   | .. | 12 .. 15 |
//
// and adds what it finds to its own 16.  Of each of `split` blocks, a cluster, these are a part of
// the sums again; a block stores a part of the tile's rows, those of 4 / split warps of each group.
// The other warps send theirs to the block that stores them:
//
//   block 0   warps 0, 1: rows 0 .. 31    | stored here     | --> block 1
//   block 1                               | --> block 0     | stored here       split = 2
//
//   received    of block 0: | group 0, its first warp: sums 0 .. 3 of lanes 0 .. 31 | 4 .. 7 | ..
//                           | its next warp | .. | group 1 | ..
//               of block 1: | the same
//
// Groups and blocks are added in their order, so that the same comes out each time.
#pragma once
#include <cuda_runtime.h>

#include "kernels/common/wgmma_store.cuh"
#include "kernels/dense/dense_spmm_wgmma_frame.cuh"
#include "kernels/ptx/cluster_store.cuh"

namespace shunt
{
namespace dense
{

constexpr int kRows = 64, kDepth = 128; // of a tile; of K in a stage
constexpr int kMultiplying = 256, kMultiplyingWarps = kMultiplying / 32; // threads, warps

// What the kernel is told beside the maps, A, and how to repair.
struct arguments {
  int steps;               // of K, kDepth each
  int tiles, tiles_across; // of C; in a row of them
  int split;               // blocks of a cluster: 1, 2 or 4
  wgmma::destination<float> c;
  bool trusted; // each block looks at the first row that it stores, not one for all at C's
};

constexpr int kExchanged = 4 * 128; // float4, by each group

// all: a warpgroup's sums of the tile; `mine`: both groups' of its own columns.  A barrier of both
// groups is passed.
__device__ __forceinline__ void exchange_sums(float4 (&exchanged)[2][kExchanged], int group,
                                              const float (&all)[32], float (&mine)[16])
{
  const int thread = threadIdx.x % 128;
#pragma unroll
  for (int i = 0; i < 16; i++) mine[i] = group == 0 ? all[i] : all[16 + i];
#pragma unroll
  for (int i = 0; i < 16; i += 4)
    exchanged[group][i / 4 * 128 + thread] =
        group == 0 ? make_float4(all[16 + i], all[17 + i], all[18 + i], all[19 + i])
                   : make_float4(all[i], all[1 + i], all[2 + i], all[3 + i]);
  __barrier_sync_count(1, kMultiplying);
#pragma unroll
  for (int i = 0; i < 16; i += 4) {
    const float4 x = exchanged[1 - group][i / 4 * 128 + thread];
    mine[i] += x.x, mine[i + 1] += x.y, mine[i + 2] += x.z, mine[i + 3] += x.w;
  }
}

// Where a warp's sums of 4 registers stand among those that a block has received, in float4.
__device__ __forceinline__ int place_of_sums(int split, int source, int group, int warp)
{
  const int own = 4 / split; // warps of a group that the block stores
  return ((source * 2 + group) * own + warp % own) * 4 * 32 + threadIdx.x % 32;
}
constexpr int kReceived = 2 * 4 * 4 * 32; // float4, of any number of blocks

// By a warp whose rows another block stores; received, arrived: there, and the barrier that counts.
__device__ __forceinline__ void send_sums(int split, int part, int group, uint32_t received,
                                          uint32_t arrived, const float (&d)[16])
{
  const int warp = threadIdx.x / 32 % 4;
  const uint32_t at = received + place_of_sums(split, part, group, warp) * 16;
#pragma unroll
  for (int q = 0; q < 4; q++)
    ptx::cluster_store_4(at + q * 512, arrived, warp * split / 4,
                         make_float4(d[4 * q], d[4 * q + 1], d[4 * q + 2], d[4 * q + 3]));
}
// What send_sums() sends to a block, in bytes.
__device__ __forceinline__ uint32_t bytes_received(int split)
{
  return (split - 1) * (2 * 4 * 4 * 32 * 16) / split;
}

// By a warp whose rows this block stores, when all has arrived.
__device__ __forceinline__ void add_sums(int split, int part, int group, const float4 *received,
                                         float (&d)[16])
{
  float sum[16] = {};
  for (int source = 0; source < split; source++) {
    const float4 *from = received + place_of_sums(split, source, group, threadIdx.x / 32 % 4);
#pragma unroll
    for (int q = 0; q < 4; q++) {
      const float4 x = source == part
                           ? make_float4(d[4 * q], d[4 * q + 1], d[4 * q + 2], d[4 * q + 3])
                           : from[q * 32];
      sum[4 * q] += x.x, sum[4 * q + 1] += x.y, sum[4 * q + 2] += x.z, sum[4 * q + 3] += x.w;
    }
  }
#pragma unroll
  for (int i = 0; i < 16; i++) d[i] = sum[i];
}

} // namespace dense
} // namespace shunt
