// profile_counts.cuh: what lanes have counted, added up: of a warp, of a block, of all blocks; the
// last block writes it to pinned host memory, the serial last.  Counts are integers added by atomics,
// so the result does not depend on the order of blocks.
#pragma once
#include "conv/profile/profile_group.cuh"

namespace shunt
{
namespace
{

// What one lane has counted; lanes 0..7 rows, lanes 0..6 groups (profile.cu).  A lane
// meets fewer than 2^26 groups.
struct tally {
  unsigned empty, unsorted, crowded, nonempty, equal, idle;
  unsigned long long squares_low, squares_high, longest;
};

// One warp, all lanes, the group's masks complete in `m`.  lengths: [SHUNT_SORTED_COUNTS] of the
// block's rows, in shared memory.
__device__ __forceinline__ void count(tally &t, const group_offsets &o, unsigned same, masks m,
                                      unsigned *lengths)
{
  int lane = threadIdx.x % 32;
  const unsigned long long length = (unsigned long long)o.length;
  bool row = lane < o.rows;
  unsigned filled = __ballot_sync(whole_warp, length > 0);
  unsigned equal = same & ~m;
  const int steps = (int)(o.length < SHUNT_PROFILE_ABREAST ? o.length : SHUNT_PROFILE_ABREAST);
  int most = max(steps, __shfl_xor_sync(whole_warp, steps, 1));
  most = max(most, __shfl_xor_sync(whole_warp, most, 2));

  if (row) {
    t.empty += length == 0;
    if (length > 0) atomicAdd(&lengths[shunt_sorted_count_of(o.length)], 1u);
    t.unsorted += m >> (8 + lane) & 1;
    t.crowded += m >> (16 + lane) & 1;
    t.squares_low += length * length & 0xffffffffu;
    t.squares_high += length * length >> 32;
    t.longest = t.longest > length ? t.longest : length;
    t.idle += (unsigned)(most - steps);
  }
  int size = lane == 0 ? 8 : lane < 3 ? 4 : 2;
  int start = lane == 0 ? 0 : lane < 3 ? (lane - 1) * 4 : (lane - 3) * 2;
  if (lane < 7 && start + size <= o.rows) {
    unsigned rows = ((1u << size) - 1) << start;
    unsigned below = rows & (rows - 1); // all but the first
    t.nonempty += (filled & rows) != 0;
    t.equal += (filled & rows) != 0 && (equal & below) == below;
  }
}

__device__ __forceinline__ unsigned long long add_warp(unsigned long long x)
{
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(whole_warp, x, apart);
  return x;
}

// Of all lanes of a warp, by lane 0 to sum[COUNT_ALL].
__device__ __forceinline__ void sum_warp(const tally &t, const runs &run, unsigned long long *sum)
{
  const int lane = threadIdx.x % 32, kind = lane == 0 ? 0 : lane < 3 ? 1 : 2;
  unsigned long long low = add_warp(t.squares_low), high = add_warp(t.squares_high);
  unsigned long long longest = t.longest, segments = add_warp(run.segments);
  const unsigned long long weight = add_warp(run.weight);

#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    const unsigned long long other = __shfl_xor_sync(whole_warp, longest, apart);
    longest = longest > other ? longest : other;
  }
  const auto add = [&](int at, unsigned long long x) {
    x = add_warp(x);
    if (lane == 0) sum[at] = x;
  };
  add(COUNT_EMPTY, t.empty);
  add(COUNT_UNSORTED, t.unsorted);
  add(COUNT_CROWDED, t.crowded);
  add(COUNT_IDLE, t.idle);
#pragma unroll
  for (int v = 0; v < 3; v++) {
    add(COUNT_NONEMPTY + v, kind == v ? t.nonempty : 0);
    add(COUNT_EQUAL + v, kind == v ? t.equal : 0);
  }
  if (lane > 0) return;
  sum[COUNT_SQUARES_LOW] = low, sum[COUNT_SQUARES_HIGH] = high;
  sum[COUNT_SEGMENTS] = segments, sum[COUNT_WEIGHT] = weight;
  sum[COUNT_TILES] = 0;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) sum[COUNT_LENGTHS + i] = 0;
  sum[COUNT_LONGEST] = longest;
}

// The tallies of all threads, added up in the scratch; true in the block that is last.
__device__ bool meet(const profile_job &g, const tally &t, const runs &run,
                     unsigned long long tiles, const unsigned *lengths)
{
  __shared__ unsigned long long sums[block_warps][COUNT_ALL];
  __shared__ bool last;
  const int i = threadIdx.x;

  sum_warp(t, run, sums[threadIdx.x / 32]);
  if (i == 0) sums[0][COUNT_TILES] = tiles;
  __syncwarp();
  if (i < SHUNT_SORTED_COUNTS) sums[0][COUNT_LENGTHS + i] = lengths[i];
  __syncthreads();
  if (i < COUNT_ALL) {
    unsigned long long sum = 0, most = 0;
    for (int w = 0; w < block_warps; w++) {
      sum += sums[w][i];
      most = most > sums[w][i] ? most : sums[w][i];
    }
    if (i < COUNT_SUMS && sum) atomicAdd(&g.scratch->count[i], sum);
    if (i == COUNT_LONGEST) atomicMax(&g.scratch->count[i], most);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&g.scratch->done, 1u) == gridDim.x - 1;
  __syncthreads();
  return last;
}

__device__ void report(const profile_job &g)
{
  unsigned long long n[COUNT_ALL];
  volatile struct shunt_profile *out = g.out;
  struct shunt_profile f = {};

  __threadfence();
  for (int i = 0; i < COUNT_ALL; i++) n[i] = atomicAdd(&g.scratch->count[i], 0ull);
  out->rows = g.rows;
  out->cols = g.cols;
  out->nnz = g.nnz;
  out->empty_rows = (int64_t)n[COUNT_EMPTY];
  out->longest_row = (int64_t)n[COUNT_LONGEST];
  out->unsorted_rows = (int64_t)n[COUNT_UNSORTED];
  out->crowded_rows = (int64_t)n[COUNT_CROWDED];
  for (int v = 0; v < 3; v++) {
    out->groups_nonempty[v] = (int64_t)n[COUNT_NONEMPTY + v];
    out->groups_equal[v] = (int64_t)n[COUNT_EQUAL + v];
  }
  out->row_length_squares = __dadd_rn(__dmul_rn((double)n[COUNT_SQUARES_HIGH], 4294967296.0),
                                      (double)n[COUNT_SQUARES_LOW]);
  out->idle_steps = (int64_t)n[COUNT_IDLE];
  out->merged_blocks = g.merged_blocks;
  out->merged_tiles = (int64_t)n[COUNT_TILES];
  unsigned long long at_least = 0;
  for (int i = SHUNT_SORTED_COUNTS - 1; i >= 0; i--) {
    at_least += n[COUNT_LENGTHS + i];
    out->lengths.at_least[i] = (uint32_t)at_least;
  }
  f.rows = g.rows, f.cols = g.cols, f.nnz = g.nnz;
  f.empty_rows = (int64_t)n[COUNT_EMPTY];
  f.segments = (int64_t)n[COUNT_SEGMENTS];
  shunt_profile_finish(&f, n[COUNT_WEIGHT], g.log2_nnz);
  out->segments = f.segments;
  out->entropy = f.entropy;
  out->ssf = f.ssf;
  __threadfence_system();
  out->serial = g.serial;
  __threadfence_system();
}

} // namespace
} // namespace shunt
