// srbcrs_spread.cuh: the vectors of a group dealt out for kernels that hold B in shared memory
// (kernels/srbcrs/srbcrs_format.h, SPREAD), by a warp; the twin is host_srbcrs_spread.c.
//
// A lane has vectors l and l + 32 of the pool.  A stride is written over slots that have been read:
// the pool has at least as many vectors as a stride, or all that are left.
#pragma once
#include <cuda_runtime.h>

#include "conv/srbcrs/srbcrs_conv.h"

namespace shunt
{
namespace
{

constexpr int kStride = SHUNT_SRBCRS_STRIDE, kPool = SHUNT_SRBCRS_POOL;
constexpr unsigned kAll = 0xffffffffu;

struct pooled_vector {
  uint32_t column;
  uint8_t mask, values[SHUNT_SRBCRS_TALLEST];
};
struct vector_pool {
  pooled_vector at[kPool];
};

// Where the byte of row r in a slot stands.
__device__ __forceinline__ int64_t byte_of(const struct shunt_srbcrs &v, int r, int64_t slot)
{
  return (slot / kStride * v.height + r) * kStride + slot % kStride;
}

// How many vectors of a pool stand before that of a lane, l or l + 32, among those named in two
// ballots.
__device__ __forceinline__ int before(const unsigned (&named)[2], int half)
{
  const unsigned lower = (1u << threadIdx.x % 32) - 1;
  return half ? __popc(named[0]) + __popc(named[1] & lower) : __popc(named[0] & lower);
}

struct spreader {
  const struct shunt_srbcrs &v;
  vector_pool &pool;
  int lane, count;       // in the pool
  unsigned members[4];   // of each set of slots, so far
  pooled_vector mine[2]; // l and l + 32
  uint32_t greatest;     // column of the stride; lane's own

  __device__ __forceinline__ spreader(const struct shunt_srbcrs &to, vector_pool &shared)
      : v(to), pool(shared), lane(threadIdx.x % 32), count(0), greatest(0)
  {
  }

  // The pool's first ones from slots `next` .. end - 1; how many came.
  __device__ __forceinline__ int64_t fill(int64_t next, int64_t end)
  {
    const int64_t left = end - next, room = kPool - count, many = left < room ? left : room;
    for (int64_t i = lane; i < many; i += 32) {
      pooled_vector &x = pool.at[count + i];
      x.column = v.columns[next + i], x.mask = v.masks[next + i];
      for (int r = 0; r < v.height; r++) x.values[r] = v.values[byte_of(v, r, next + i)];
    }
    count += static_cast<int>(many);
    __syncwarp();
    for (int e = 0; e < 2; e++) mine[e] = pool.at[lane + 32 * e];
    return many;
  }

  __device__ __forceinline__ void put(int64_t stride, int set, int number, const pooled_vector &x)
  {
    const int64_t slot = stride + SHUNT_SRBCRS_SPREAD_SLOT(set, number);
    v.columns[slot] = x.column, v.masks[slot] = x.mask;
    for (int r = 0; r < v.height; r++) v.values[byte_of(v, r, slot)] = x.values[r];
    greatest = x.column > greatest ? x.column : greatest;
  }

  // Into free slot number `free` of all sets.
  __device__ __forceinline__ void put_anywhere(int64_t stride, int free, const pooled_vector &x)
  {
    int set = 0;
    for (; free >= 8 - static_cast<int>(members[set]); set++) free -= 8 - members[set];
    put(stride, set, members[set] + free, x);
  }

  // Which of its residue the lane's vectors are, if near; else 4 and more.
  __device__ __forceinline__ void rank(int (&ranks)[2]) const
  {
    const uint32_t first = pool.at[0].column;
    ranks[0] = ranks[1] = kPool;
    for (uint32_t residue = 0; residue < 8; residue++) {
      bool is[2];
      unsigned named[2];
      for (int e = 0; e < 2; e++) {
        is[e] = lane + 32 * e < count && mine[e].column % 8 == residue &&
                mine[e].column - first < SHUNT_SRBCRS_REACH;
        named[e] = __ballot_sync(kAll, is[e]);
      }
      for (int e = 0; e < 2; e++)
        if (is[e]) ranks[e] = before(named, e);
    }
  }

  // A stride to slots stride .. stride + 31; what is left stays in the pool.
  __device__ __forceinline__ void deal(int64_t stride)
  {
    int ranks[2];
    unsigned left[2];
    greatest = 0;
    rank(ranks);
    int dealt = 0;
    for (int set = 0; set < 4; set++) {
      unsigned named[2];
      for (int e = 0; e < 2; e++) named[e] = __ballot_sync(kAll, ranks[e] == set);
      for (int e = 0; e < 2; e++)
        if (ranks[e] == set) put(stride, set, before(named, e), mine[e]);
      members[set] = __popc(named[0]) + __popc(named[1]);
      dealt += static_cast<int>(members[set]);
    }
    for (int e = 0; e < 2; e++)
      left[e] = __ballot_sync(kAll, lane + 32 * e < count && ranks[e] >= 4);
    const int many = __popc(left[0]) + __popc(left[1]);
    const int taken = many < kStride - dealt ? many : kStride - dealt;
    __syncwarp(); // the pool's first column is read
    for (int e = 0; e < 2; e++) {
      if (!(left[e] >> lane & 1)) continue;
      const int number = before(left, e);
      if (number < taken)
        put_anywhere(stride, number, mine[e]);
      else
        pool.at[number - taken] = mine[e];
    }
    const pooled_vector pad = {__reduce_max_sync(kAll, greatest), 0, {}};
    if (dealt + taken + lane < kStride) put_anywhere(stride, taken + lane, pad);
    count = many - taken;
    __syncwarp();
  }
};

// A group of so many vectors that begins at slot `first`, ascending so far.
__device__ __forceinline__ void spread(const struct shunt_srbcrs &v, vector_pool &pool,
                                       int64_t first, int64_t vectors)
{
  spreader k(v, pool);
  int64_t next = first;
  __syncwarp(); // the slots are written
  for (int64_t stride = first; stride < first + vectors; stride += kStride) {
    next += k.fill(next, first + vectors);
    k.deal(stride);
  }
}

} // namespace
} // namespace shunt
