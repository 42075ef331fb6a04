// profile_device.cu: what a pattern looks like, in one read of offsets and columns.
//
// The unit is an aligned group of 8 rows.  Its offsets and a pass over its entries
// leave four masks of 8 bits, one bit a row:
//
//   filled     the row has an entry
//   unsorted   some column is not above its predecessor
//   crowded    some column lies in the same aligned four as the last but one before it
//   equal      the row's list is that of the row above (bit 0 unused)
//
// and everything counted follows from them and the lengths.  Groups of 4 and 2 lie
// inside those of 8, so they are counted from the same masks, one lane each:
//
//   lane            0              1       2       3   4   5   6
//   rows of it   0 1 2 3 4 5 6 7   0..3    4..7    01  23  45  67
//
// A column is compared with the two before it and with the one standing `length`
// before it, at the same place of the row above; all were read a moment ago and come
// from the L1 cache.  A short group is a warp's work, a long one (or every group, when
// rows are long) a block's:
//
//   block b takes sets of 8 groups: warp w does group w; groups of more than
//   `warp_most` entries wait in a list and the block does them together
//
// Of 16-bit values, blocks of 16 rows are looked at once more, for the columns they have: a bit
// each in shared memory, a block row after the other by all threads of a block.
//
// Counts are integers added by atomics, so the result does not depend on the order of
// blocks; the last block writes it to pinned host memory, the serial last.
#include <cuda_runtime.h>

#include "conv/shunt_conv.h"

namespace shunt {
namespace {

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / 32;
constexpr int blocks_per_multiprocessor = 8;
constexpr int batch = 4;         // entries a thread has in flight
constexpr int warp_most = 2048;  // entries of a group that one warp takes
constexpr unsigned whole_warp = 0xffffffffu;

enum {
  COUNT_EMPTY,
  COUNT_UNSORTED,
  COUNT_CROWDED,
  COUNT_SQUARES_LOW,  // squares are added in two halves: 96 bits in all
  COUNT_SQUARES_HIGH,
  COUNT_NONEMPTY,                   // 3: groups of 8, 4, 2
  COUNT_EQUAL = COUNT_NONEMPTY + 3, // 3
  COUNT_TILES = COUNT_EQUAL + 3,
  COUNT_SUMS,
  COUNT_LONGEST = COUNT_SUMS, // a maximum
  COUNT_ALL
};

struct scratch_area {
  unsigned long long count[COUNT_ALL];
  unsigned done;
};
static_assert(sizeof(scratch_area) <= SHUNT_PROFILE_SCRATCH, "SHUNT_PROFILE_SCRATCH too small");

struct profile_job {
  const void *offsets, *columns;
  int64_t rows, cols, nnz, groups;
  int base;
  int groups_per_set;  // block_warps, or 1 when every group is a block's work
  int64_t merged_blocks, merged_step;  // so many blocks of 16 rows, each so far from the one before
  uint64_t serial;
  struct shunt_profile *out;
  scratch_area *scratch;
};

// The nine offsets of a group; rows past the end are empty.  All zero if one is
// impossible.
struct group_offsets {
  int64_t at[9];
  int rows;
};

template <class I>
__device__ __forceinline__ group_offsets load_group(const profile_job &g, int64_t group)
{
  const I *offsets = static_cast<const I *>(g.offsets);
  int64_t first = group * 8;
  group_offsets o;
  bool valid = true;

  o.rows = (int)(g.rows - first < 8 ? g.rows - first : 8);
#pragma unroll
  for (int k = 0; k < 9; k++) {  // unsigned, so that garbage wraps
    uint64_t at = (uint64_t)(int64_t)offsets[first + min(k, o.rows)];
    o.at[k] = (int64_t)(at - (uint64_t)g.base);
  }
#pragma unroll
  for (int k = 0; k < 8; k++) valid &= o.at[k] <= o.at[k + 1];
  valid &= o.at[0] >= 0 && o.at[8] <= g.nnz;
#pragma unroll
  for (int k = 0; k < 9; k++) o.at[k] = valid ? o.at[k] : 0;
  return o;
}

// What a pass finds, as bits: r, row r differs from row r - 1; 8 + r, row r is unsorted;
// 16 + r, row r is crowded.
using masks = unsigned;

// Unsigned, so that garbage wraps.
template <class I> __device__ __forceinline__ bool same_quad(const profile_job &g, I a, I b)
{
  const uint64_t base = (uint64_t)g.base;
  return ((uint64_t)(int64_t)a - base) >> 2 == ((uint64_t)(int64_t)b - base) >> 2;
}

// Bit r: row r is as long as row r - 1.
__device__ __forceinline__ unsigned same_lengths(const group_offsets &o)
{
  unsigned same = 0;
#pragma unroll
  for (int r = 1; r < 8; r++)
    if (o.at[r + 1] - o.at[r] == o.at[r] - o.at[r - 1]) same |= 1u << r;
  return same;
}

// One lane's share of a short group, entry by entry.
template <class I>
__device__ __forceinline__ masks scan_short(const profile_job &g, const group_offsets &o,
                                            unsigned same)
{
  const I *columns = static_cast<const I *>(g.columns) + o.at[0];
  int total = (int)(o.at[8] - o.at[0]);
  int row_begin[8];
  masks found = 0;

#pragma unroll
  for (int r = 0; r < 8; r++) row_begin[r] = (int)(o.at[r] - o.at[0]);
  for (int p0 = threadIdx.x % 32; p0 < total; p0 += 32 * batch) {
    I column[batch], before[batch], second[batch], above[batch];
    unsigned bit[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) {
      int p = p0 + k * 32, begin = 0, above_begin = 0;
      bit[k] = 1;
#pragma unroll
      for (int r = 1; r < 8; r++)
        if (p >= row_begin[r]) above_begin = begin, begin = row_begin[r], bit[k] = 1u << r;
      bool there = p < total;
      column[k] = there ? columns[p] : I(0);
      // The row above is as long as this one, so this one's length is what lies between.
      above[k] = there && (same & bit[k]) ? columns[p - (begin - above_begin)] : column[k];
      const unsigned row = bit[k];
      before[k] = second[k] = column[k];
      if (there && p > begin) {
        before[k] = columns[p - 1];
        bit[k] |= row << 8;
      }
      if (there && p > begin + 1) {
        second[k] = columns[p - 2];
        bit[k] |= row << 16;
      }
    }
#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (column[k] <= before[k]) found |= bit[k] & 0xff00;
      if (same_quad(g, column[k], second[k])) found |= bit[k] & 0xff0000;
      if (column[k] != above[k]) found |= bit[k] & 0xff;
    }
  }
  return found;
}

// One thread's share of a long group, row by row.
template <class I>
__device__ __forceinline__ masks scan_long(const profile_job &g, const group_offsets &o,
                                           unsigned same)
{
  const I *columns = static_cast<const I *>(g.columns);
  masks found = 0;

#pragma unroll 1
  for (int r = 0; r < 8; r++) {
    int64_t begin = o.at[0], end = o.at[1];
#pragma unroll
    for (int k = 1; k < 8; k++)
      if (k == r) begin = o.at[k], end = o.at[k + 1];
    bool compare = same >> r & 1;
    int64_t length = end - begin;
    for (int64_t p0 = begin + threadIdx.x; p0 < end; p0 += block_threads * batch) {
      I column[batch], before[batch], second[batch], above[batch];
#pragma unroll
      for (int k = 0; k < batch; k++) {
        int64_t p = p0 + k * block_threads;
        column[k] = p < end ? columns[p] : I(0);
        before[k] = p < end && p > begin ? columns[p - 1] : I(0);
        second[k] = p < end && p > begin + 1 ? columns[p - 2] : I(0);
        above[k] = p < end && compare ? columns[p - length] : column[k];
      }
#pragma unroll
      for (int k = 0; k < batch; k++) {
        int64_t p = p0 + k * block_threads;
        if (p < end && p > begin && column[k] <= before[k]) found |= 0x100u << r;
        if (p < end && p > begin + 1 && same_quad(g, column[k], second[k])) found |= 0x10000u << r;
        if (column[k] != above[k]) found |= 1u << r;
      }
    }
  }
  return found;
}

// What one lane has counted; lanes 0..7 rows, lanes 0..6 groups (see above).  A lane
// meets fewer than 2^32 groups.
struct tally {
  unsigned empty, unsorted, crowded, nonempty, equal;
  unsigned long long squares_low, squares_high, longest;
};

// One warp, all lanes, the group's masks complete in `m`.
__device__ __forceinline__ void count(tally &t, const group_offsets &o, unsigned same, masks m)
{
  int lane = threadIdx.x % 32;
  unsigned long long length = 0;

#pragma unroll
  for (int r = 0; r < 8; r++)
    if (r == lane) length = (unsigned long long)(o.at[r + 1] - o.at[r]);
  bool row = lane < o.rows;
  unsigned filled = __ballot_sync(whole_warp, length > 0);
  unsigned equal = same & ~m;

  if (row) {
    t.empty += length == 0;
    t.unsorted += m >> (8 + lane) & 1;
    t.crowded += m >> (16 + lane) & 1;
    t.squares_low += length * length & 0xffffffffu;
    t.squares_high += length * length >> 32;
    t.longest = t.longest > length ? t.longest : length;
  }
  int size = lane == 0 ? 8 : lane < 3 ? 4 : 2;
  int start = lane == 0 ? 0 : lane < 3 ? (lane - 1) * 4 : (lane - 3) * 2;
  if (lane < 7 && start + size <= o.rows) {
    unsigned rows = ((1u << size) - 1) << start;
    unsigned below = rows & (rows - 1);  // all but the first
    t.nonempty += (filled & rows) != 0;
    t.equal += (filled & rows) != 0 && (equal & below) == below;
  }
}

// The whole block, one group.
template <class I>
__device__ __forceinline__ void profile_long(const profile_job &g, int64_t group, tally &t,
                                             masks *shared)
{
  group_offsets o = load_group<I>(g, group);
  unsigned same = same_lengths(o);

  if (threadIdx.x == 0) *shared = 0;
  __syncthreads();
  masks m = __reduce_or_sync(whole_warp, scan_long<I>(g, o, same));
  if (m && threadIdx.x % 32 == 0) atomicOr(shared, m);
  __syncthreads();
  if (threadIdx.x < 32) count(t, o, same, *shared);
  __syncthreads();
}

// One warp, one group; false when it is too long for that.
template <class I>
__device__ __forceinline__ bool profile_short(const profile_job &g, int64_t group, tally &t)
{
  group_offsets o = load_group<I>(g, group);
  unsigned same = same_lengths(o);

  if (o.at[8] - o.at[0] > warp_most) return false;
  count(t, o, same, __reduce_or_sync(whole_warp, scan_short<I>(g, o, same)));
  return true;
}

// The whole block: adds the tiles of rows first .. first + 15 to thread 0's sum.  seen: zero before
// and after.
template <class I>
__device__ __forceinline__ void count_merged(const profile_job &g, int64_t first, unsigned *seen,
                                             unsigned long long &tiles)
{
  constexpr int words = SHUNT_PROFILE_MODULUS / 32;
  const I *offsets = static_cast<const I *>(g.offsets), *columns = static_cast<const I *>(g.columns);
  const int64_t last = first + 16 < g.rows ? first + 16 : g.rows;
  const int64_t begin = (int64_t)((uint64_t)(int64_t)offsets[first] - (uint64_t)g.base);
  const int64_t end = (int64_t)((uint64_t)(int64_t)offsets[last] - (uint64_t)g.base);
  const bool valid = begin >= 0 && end >= begin && end <= g.nnz;
  int found = 0;

  __syncthreads();
#pragma unroll 4
  for (int64_t p = begin + threadIdx.x; valid && p < end; p += block_threads) {
    const unsigned bit =
        (unsigned)(((uint64_t)(int64_t)columns[p] - (uint64_t)g.base) % SHUNT_PROFILE_MODULUS);
    const unsigned mask = 1u << bit % 32;
    found += !(atomicOr(&seen[bit / 32], mask) & mask);
  }
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  found = __reduce_add_sync(whole_warp, found);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, found);
  for (int i = threadIdx.x; i < words; i += block_threads) seen[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) tiles += (sum + 31) / 32;
}

// The tallies of all threads, added up in the scratch; true in the block that is last.
__device__ bool meet(const profile_job &g, const tally &t, unsigned long long tiles)
{
  __shared__ unsigned long long sum[COUNT_ALL];
  __shared__ bool last;
  int lane = threadIdx.x % 32;
  int v = lane == 0 ? 0 : lane < 3 ? 1 : 2;

  if (threadIdx.x < COUNT_ALL) sum[threadIdx.x] = 0;
  __syncthreads();
  if (lane < 8) {
    atomicAdd(&sum[COUNT_EMPTY], (unsigned long long)t.empty);
    atomicAdd(&sum[COUNT_UNSORTED], (unsigned long long)t.unsorted);
    atomicAdd(&sum[COUNT_CROWDED], (unsigned long long)t.crowded);
    atomicAdd(&sum[COUNT_SQUARES_LOW], t.squares_low);
    atomicAdd(&sum[COUNT_SQUARES_HIGH], t.squares_high);
    atomicAdd(&sum[COUNT_NONEMPTY + v], (unsigned long long)t.nonempty);
    atomicAdd(&sum[COUNT_EQUAL + v], (unsigned long long)t.equal);
    atomicMax(&sum[COUNT_LONGEST], t.longest);
  }
  __syncthreads();
  if (threadIdx.x == 0) sum[COUNT_TILES] = tiles;
  __syncthreads();
  if (threadIdx.x < COUNT_SUMS) atomicAdd(&g.scratch->count[threadIdx.x], sum[threadIdx.x]);
  if (threadIdx.x == COUNT_LONGEST) atomicMax(&g.scratch->count[COUNT_LONGEST], sum[COUNT_LONGEST]);
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
  out->merged_blocks = g.merged_blocks;
  out->merged_tiles = (int64_t)n[COUNT_TILES];
  __threadfence_system();
  out->serial = g.serial;
  __threadfence_system();
}

template <class I>
__global__ void __launch_bounds__(block_threads, 4)
    profile_kernel(const __grid_constant__ profile_job g)
{
  __shared__ masks shared;
  __shared__ int waiting[block_warps], waiting_count;
  __shared__ unsigned seen[SHUNT_PROFILE_MODULUS / 32];
  int warp = threadIdx.x / 32;
  tally t = {};
  unsigned long long tiles = 0;

  for (int64_t set = blockIdx.x; set * g.groups_per_set < g.groups; set += gridDim.x) {
    if (g.groups_per_set == 1) {
      profile_long<I>(g, set, t, &shared);
      continue;
    }
    int64_t group = set * block_warps + warp;
    if (threadIdx.x == 0) waiting_count = 0;
    __syncthreads();
    if (group < g.groups && !profile_short<I>(g, group, t) && threadIdx.x % 32 == 0)
      waiting[atomicAdd(&waiting_count, 1)] = warp;
    __syncthreads();
    for (int i = 0; i < waiting_count; i++)
      profile_long<I>(g, set * block_warps + waiting[i], t, &shared);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < SHUNT_PROFILE_MODULUS / 32; i += block_threads) seen[i] = 0;
  for (int64_t b = blockIdx.x; b < g.merged_blocks; b += gridDim.x)
    count_merged<I>(g, b * g.merged_step * 16, seen, tiles);
  if (meet(g, t, tiles) && threadIdx.x == 0) report(g);
}

}  // namespace
}  // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_profile_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                               struct shunt_profile *out, void *scratch,
                                               const struct shunt_device *d, shunt_stream stream)
{
  int64_t most = (int64_t)d->multiprocessors * blocks_per_multiprocessor;
  profile_job g = {};
  void *arguments[] = { &g };

  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (!out || !scratch) return SHUNT_E_ARGUMENT;
  g.offsets = a->row_offsets, g.columns = a->columns;
  g.rows = a->rows, g.cols = a->cols, g.nnz = a->nnz, g.base = a->base;
  g.groups = (a->rows + 7) / 8;
  g.groups_per_set = a->nnz / 512 > g.groups ? 1 : block_warps;
  if (shunt_type_size(a->value_type) == 2) {
    const int64_t rows16 = (a->rows + 15) / 16;
    g.merged_step = (rows16 + SHUNT_PROFILE_BLOCKS - 1) / SHUNT_PROFILE_BLOCKS;
    g.merged_blocks = rows16 ? (rows16 + g.merged_step - 1) / g.merged_step : 0;
  }
  g.serial = serial;
  g.out = out;
  g.scratch = static_cast<scratch_area *>(scratch);

  int64_t blocks = (g.groups + g.groups_per_set - 1) / g.groups_per_set;
  if (blocks > most) blocks = most;
  if (blocks < 1) blocks = 1;
  if (cudaMemsetAsync(scratch, 0, sizeof(scratch_area), stream) != cudaSuccess)
    return SHUNT_E_CUDA;
  const void *kernel = a->index_type == SHUNT_I32 ?
                           reinterpret_cast<const void *>(profile_kernel<int32_t>) :
                           reinterpret_cast<const void *>(profile_kernel<int64_t>);
  cudaError_t e = cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(block_threads), arguments,
                                   0, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
