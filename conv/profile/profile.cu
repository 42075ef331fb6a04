// profile.cu: what a pattern looks like, in one read of offsets and columns.
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
// A column is compared with the two before it, which are the lanes' next to its own, and with the
// one standing `length` before it, at the same place of the row above, which was read a moment ago
// and comes from the L1 cache.  A group is a warp's work; those of more than `warp_most` entries
// wait in a list until the block has done the others, and then its warps take equal shares of each.
// When rows are long, all groups are done so.
//
// A run of entries in one strip of 64 columns (a segment) is counted where the next one begins, by
// the lane that sees it begin: bits of one vote, 32 entries each, the open run carried on.
//
//   strip      3 3 3 7 7 9 9 9 | 9 9 12 ..     | : the next 32
//   begins     1 0 0 1 0 1 0 0 | 0 0 1
//   adds             3   2           5         entries: their weight (profile_segments.h)
//
// Where warps share a group, each looks back up to 64 entries for its first run.
//
// Of 16-bit values, blocks of 16 rows are looked at once more, for the columns they have: a bit
// each in shared memory, a block row after the other by all threads of a block.
//
// Counts are integers added by atomics, so the result does not depend on the order of
// blocks; the last block writes it to pinned host memory, the serial last.
#include <cuda_runtime.h>

#include "conv/profile/profile.h"
#include "conv/profile/profile_segments.h"

namespace shunt
{
namespace
{

constexpr int block_threads = 256;
constexpr int block_warps = block_threads / 32;
constexpr int blocks_per_multiprocessor = 8;
constexpr int batch = 2;           // entries a thread has in flight
constexpr int warp_most = 2048;    // entries of a group that one warp takes
constexpr int most_waiting = 64;   // groups of more that wait for their block; others do not wait
constexpr int resident_blocks = 4; // that registers are limited for
constexpr unsigned whole_warp = 0xffffffffu;

enum {
  COUNT_EMPTY,
  COUNT_UNSORTED,
  COUNT_CROWDED,
  COUNT_SQUARES_LOW, // squares are added in two halves: 96 bits in all
  COUNT_SQUARES_HIGH,
  COUNT_NONEMPTY,                   // 3: groups of 8, 4, 2
  COUNT_EQUAL = COUNT_NONEMPTY + 3, // 3
  COUNT_TILES = COUNT_EQUAL + 3,
  COUNT_SEGMENTS,
  COUNT_WEIGHT,
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
  bool by_blocks;                     // every group is a block's work
  int64_t merged_blocks, merged_step; // so many blocks of 16 rows, each so far from the one before
  double log2_nnz;
  uint64_t serial;
  struct shunt_profile *out;
  scratch_area *scratch;
};

__device__ const unsigned segment_weights[SHUNT_PROFILE_STRIP + 1] = {SHUNT_SEGMENT_WEIGHTS};

// The nine offsets of a group: lane k of 0 to 8 has where row k begins, the others where the last
// row ends; rows past the end are empty.  All zero if one is impossible.
struct group_offsets {
  int64_t at, length; // of the lane's row
  int rows;
};

template <class I>
__device__ __forceinline__ group_offsets load_group(const profile_job &g, int64_t group)
{
  const I *offsets = static_cast<const I *>(g.offsets);
  const int64_t first = group * 8;
  const int lane = threadIdx.x % 32;
  group_offsets o;

  o.rows = (int)(g.rows - first < 8 ? g.rows - first : 8);
  // unsigned, so that garbage wraps
  o.at = (int64_t)((uint64_t)(int64_t)offsets[first + min(lane, o.rows)] - (uint64_t)g.base);
  const int64_t next = __shfl_down_sync(whole_warp, o.at, 1);
  const bool inside = o.at >= 0 && o.at <= g.nnz;
  const bool valid = __all_sync(whole_warp, inside && (lane >= o.rows || o.at <= next));
  o.at = valid ? o.at : 0;
  o.length = valid && lane < o.rows ? next - o.at : 0;
  return o;
}

__device__ __forceinline__ int64_t group_entries(const group_offsets &o)
{
  return __shfl_sync(whole_warp, o.at, 8) - __shfl_sync(whole_warp, o.at, 0);
}

// Bit r: row r is as long as row r - 1.
__device__ __forceinline__ unsigned same_lengths(const group_offsets &o)
{
  const int64_t above = __shfl_up_sync(whole_warp, o.length, 1);
  return __ballot_sync(whole_warp, o.length == above) & 0xfe;
}

// ---- runs of entries in one strip ----------------------------------------------------------

// Places count from the first of the entries at hand; `open` is where the last run began.
// `segments` and `weight` are a lane's, of all that it has met.
struct runs {
  const unsigned *weight_of; // shared memory
  int open;
  unsigned segments;
  unsigned long long weight;
};

__device__ __forceinline__ void close_run(runs &r, int from, int end)
{
  r.weight += r.weight_of[min(end - from, int{SHUNT_PROFILE_STRIP})];
}

// All lanes: the 32 entries from place `at` on.
__device__ __forceinline__ void count_runs(runs &r, int at, bool begins)
{
  const int lane = threadIdx.x % 32;
  const unsigned word = __ballot_sync(whole_warp, begins), below = word & ((1u << lane) - 1);
  const int end = at + lane, from = below ? at + 31 - __clz((int)below) : r.open;

  close_run(r, begins ? from : end, end);
  r.open = word ? at + 31 - __clz((int)word) : r.open;
}

template <class I, int width>
__device__ __forceinline__ bool same_run(const profile_job &g, I a, I b)
{
  return shunt_same_run(a, b, g.base, sizeof(I), width);
}

// ---- a pass over a group -------------------------------------------------------------------

// What it finds, as bits: r, row r differs from row r - 1; 8 + r, row r is unsorted; 16 + r, row r
// is crowded.
using masks = unsigned;

// The rows of a group, places counted from its first entry (L: int if that is enough).  Lane k of 0
// to 8 has where row k begins.
template <class L> struct group_places {
  L at, total;
};

// The last row that begins at or before p.
template <class L> __device__ __forceinline__ int row_of(const group_places<L> &o, L p)
{
  int row = p >= __shfl_sync(whole_warp, o.at, 4) ? 4 : 0;
  row += p >= __shfl_sync(whole_warp, o.at, row + 2) ? 2 : 0;
  return row + (p >= __shfl_sync(whole_warp, o.at, row + 1) ? 1 : 0);
}

// The 32 entries before p > 0; sets run.open, as far as 64 entries back.
template <class I, class L>
__device__ __forceinline__ I look_back(const profile_job &g, const group_places<L> &o,
                                       const I *columns, L p, runs &run)
{
  const L near = p - 32 + threadIdx.x % 32, far = near - 32;
  const I one = columns[near >= 0 ? near : 0], two = columns[far >= 0 ? far : 0];
  const L begin = __shfl_sync(whole_warp, o.at, row_of<L>(o, p - 1));
  const I last = __shfl_sync(whole_warp, one, 31);
  const bool near_same = near >= begin && same_run<I, SHUNT_PROFILE_STRIP>(g, one, last);
  const bool far_same = far >= begin && same_run<I, SHUNT_PROFILE_STRIP>(g, two, last);
  const unsigned other = ~__ballot_sync(whole_warp, near_same);
  const unsigned beyond = ~__ballot_sync(whole_warp, far_same);

  run.open = other ? -__clz((int)other) : -32 - __clz((int)beyond);
  return one;
}

// A warp's share of a group: its entries first .. end - 1, `batch` times 32 of them at a time.
template <class I, class L>
__device__ __forceinline__ masks scan(const profile_job &g, const group_places<L> &o,
                                      const I *columns, unsigned same, L first, L end, runs &run)
{
  constexpr int chunk = 32 * batch;
  const int lane = threadIdx.x % 32;
  const bool ends = end == o.total && first < end;
  masks found = 0;
  I last = 0; // of the 32 entries before

  run.open = 0;
  if (first > 0 && first < end) last = look_back<I, L>(g, o, columns, first, run);
  for (; first < end; first += chunk) {
    I column[batch], above[batch];
    unsigned bits[batch]; // as in masks: what may be found of the entry; 31: there is one
#pragma unroll
    for (int k = 0; k < batch; k++) {
      const L p = first + k * 32 + lane;
      const int row = row_of<L>(o, p);
      const L begin = __shfl_sync(whole_warp, o.at, row);
      const L length = begin - __shfl_sync(whole_warp, o.at, row > 0 ? row - 1 : 0);
      const bool there = p < end, compare = there && (same >> row & 1);
      bits[k] = (there ? 0x80000000u : 0) | (compare ? 1u << row : 0) |
                (there && p > begin ? 0x100u << row : 0) |
                (there && p > begin + 1 ? 0x10000u << row : 0);
      column[k] = there ? columns[p] : I(0);
      above[k] = compare ? columns[p - length] : column[k];
    }
#pragma unroll
    for (int k = 0; k < batch; k++) {
      const I previous = k > 0 ? column[k - 1] : last;
      const I before = __shfl_sync(whole_warp, lane == 31 ? previous : column[k], (lane + 31) % 32);
      const I second = __shfl_sync(whole_warp, lane >= 30 ? previous : column[k], (lane + 30) % 32);
      const bool follows = bits[k] & 0xff00, there = bits[k] >> 31;
      if (column[k] <= before) found |= bits[k] & 0xff00;
      if (same_run<I, 4>(g, column[k], second)) found |= bits[k] & 0xff0000;
      if (column[k] != above[k]) found |= bits[k] & 0xff;
      const bool same_strip = same_run<I, SHUNT_PROFILE_STRIP>(g, column[k], before);
      const bool begins = there && !(follows && same_strip);
      run.segments += begins;
      count_runs(run, k * 32, begins);
    }
    last = column[batch - 1];
    run.open -= chunk;
  }
  if (ends && lane == 0) close_run(run, run.open, (int)(end - first));
  return found;
}

// A warp's share if each of `warps` takes as much, in whole chunks.
template <class I, class L>
__device__ __forceinline__ masks scan_group(const profile_job &g, const group_offsets &o,
                                            unsigned same, int warp, int warps, runs &run)
{
  constexpr int chunk = 32 * batch;
  const int64_t start = __shfl_sync(whole_warp, o.at, 0);
  const L at = (L)(o.at - start), total = __shfl_sync(whole_warp, at, 8);
  const L share = (total + warps * chunk - 1) / (warps * chunk) * chunk;
  const L first = min(share * warp, total), end = min(first + share, total);
  const I *columns = static_cast<const I *>(g.columns) + start;
  return scan<I, L>(g, {at, total}, columns, same, first, end, run);
}

struct giant {
  masks found;
  unsigned segments;
  unsigned long long weight;
};

// Of a group of 2^30 entries or more.  Not inlined, and by value: others need the registers.
template <class I>
__device__ __noinline__ giant scan_giant(const profile_job &g, group_offsets o, unsigned same,
                                         int warp, int warps, const unsigned *weight_of)
{
  runs run = {weight_of, 0, 0, 0};
  const masks found = scan_group<I, int64_t>(g, o, same, warp, warps, run);
  return {found, run.segments, run.weight};
}

template <class I>
__device__ __forceinline__ masks scan_any(const profile_job &g, const group_offsets &o,
                                          unsigned same, int warp, int warps, runs &run)
{
  masks found;
  if (group_entries(o) < int64_t{1} << 30) {
    found = scan_group<I, int>(g, o, same, warp, warps, run);
  } else {
    const giant of = scan_giant<I>(g, o, same, warp, warps, run.weight_of);
    found = of.found;
    run.segments += of.segments;
    run.weight += of.weight;
  }
  return __reduce_or_sync(whole_warp, found);
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
  const unsigned long long length = (unsigned long long)o.length;
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
    unsigned below = rows & (rows - 1); // all but the first
    t.nonempty += (filled & rows) != 0;
    t.equal += (filled & rows) != 0 && (equal & below) == below;
  }
}

// The whole block, one group.
template <class I>
__device__ __forceinline__ void profile_long(const profile_job &g, int64_t group, tally &t,
                                             runs &run, masks *shared)
{
  const group_offsets o = load_group<I>(g, group);
  const unsigned same = same_lengths(o);

  if (threadIdx.x == 0) *shared = 0;
  __syncthreads();
  const masks m = scan_any<I>(g, o, same, threadIdx.x / 32, block_warps, run);
  if (m && threadIdx.x % 32 == 0) atomicOr(shared, m);
  __syncthreads();
  if (threadIdx.x < 32) count(t, o, same, *shared);
  __syncthreads();
}

// The whole block: adds the tiles of rows first .. first + 15 to thread 0's sum.  seen: zero before
// and after.
template <class I>
__device__ __forceinline__ void count_merged(const profile_job &g, int64_t first, unsigned *seen,
                                             unsigned long long &tiles)
{
  constexpr int words = SHUNT_PROFILE_MODULUS / 32;
  const I *offsets = static_cast<const I *>(g.offsets);
  const I *columns = static_cast<const I *>(g.columns);
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
#pragma unroll
  for (int v = 0; v < 3; v++) {
    add(COUNT_NONEMPTY + v, kind == v ? t.nonempty : 0);
    add(COUNT_EQUAL + v, kind == v ? t.equal : 0);
  }
  if (lane > 0) return;
  sum[COUNT_SQUARES_LOW] = low, sum[COUNT_SQUARES_HIGH] = high;
  sum[COUNT_SEGMENTS] = segments, sum[COUNT_WEIGHT] = weight;
  sum[COUNT_TILES] = 0;
  sum[COUNT_LONGEST] = longest;
}

// The tallies of all threads, added up in the scratch; true in the block that is last.
__device__ bool meet(const profile_job &g, const tally &t, const runs &run,
                     unsigned long long tiles)
{
  __shared__ unsigned long long sums[block_warps][COUNT_ALL];
  __shared__ bool last;
  const int i = threadIdx.x;

  sum_warp(t, run, sums[threadIdx.x / 32]);
  if (threadIdx.x == 0) sums[0][COUNT_TILES] = tiles;
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
  out->merged_blocks = g.merged_blocks;
  out->merged_tiles = (int64_t)n[COUNT_TILES];
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

// Groups that are too long for a warp, in shared memory.
struct waiting_groups {
  int64_t group[most_waiting];
  int count;
};

// Every warp its groups.
template <class I>
__device__ __forceinline__ void profile_groups(const profile_job &g, tally &t, runs &run,
                                               waiting_groups &waiting)
{
  const int64_t warps = (int64_t)gridDim.x * block_warps;

  for (int64_t i = (int64_t)blockIdx.x * block_warps + threadIdx.x / 32; i < g.groups; i += warps) {
    const group_offsets o = load_group<I>(g, i);
    if (group_entries(o) > warp_most) {
      int place = 0;
      if (threadIdx.x % 32 == 0) place = atomicAdd(&waiting.count, 1);
      place = __shfl_sync(whole_warp, place, 0);
      if (place < most_waiting) {
        if (threadIdx.x % 32 == 0) waiting.group[place] = i;
        continue;
      }
    }
    const unsigned same = same_lengths(o);
    count(t, o, same, scan_any<I>(g, o, same, 0, 1, run));
  }
}

template <class I>
__global__ void __launch_bounds__(block_threads, resident_blocks)
    profile_kernel(const __grid_constant__ profile_job g)
{
  __shared__ masks shared;
  __shared__ waiting_groups waiting;
  __shared__ unsigned seen[SHUNT_PROFILE_MODULUS / 32];
  __shared__ unsigned weight_of[SHUNT_PROFILE_STRIP + 1];
  tally t = {};
  runs run = {weight_of, 0, 0, 0};
  unsigned long long tiles = 0;

  if (threadIdx.x <= SHUNT_PROFILE_STRIP) weight_of[threadIdx.x] = segment_weights[threadIdx.x];
  if (threadIdx.x == 0) waiting.count = 0;
  __syncthreads();
  if (!g.by_blocks) profile_groups<I>(g, t, run, waiting);
  __syncthreads();
  const int64_t left = g.by_blocks ? (g.groups - blockIdx.x + gridDim.x - 1) / gridDim.x
                                   : min(waiting.count, most_waiting);
  for (int64_t i = 0; i < left; i++)
    profile_long<I>(g, g.by_blocks ? blockIdx.x + i * gridDim.x : waiting.group[i], t, run,
                    &shared);
  for (int i = threadIdx.x; i < SHUNT_PROFILE_MODULUS / 32; i += block_threads) seen[i] = 0;
  for (int64_t b = blockIdx.x; b < g.merged_blocks; b += gridDim.x)
    count_merged<I>(g, b * g.merged_step * 16, seen, tiles);
  if (meet(g, t, run, tiles) && threadIdx.x == 0) report(g);
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_profile_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                               struct shunt_profile *out, void *scratch,
                                               const struct shunt_device *d, shunt_stream stream)
{
  int64_t most = (int64_t)d->multiprocessors * blocks_per_multiprocessor;
  profile_job g = {};
  void *arguments[] = {&g};

  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (!out || !scratch) return SHUNT_E_ARGUMENT;
  g.offsets = a->row_offsets, g.columns = a->columns;
  g.rows = a->rows, g.cols = a->cols, g.nnz = a->nnz, g.base = a->base;
  g.groups = (a->rows + 7) / 8;
  g.by_blocks = a->nnz / 512 > g.groups;
  if (shunt_type_size(a->value_type) == 2) {
    const int64_t rows16 = (a->rows + 15) / 16;
    g.merged_step = (rows16 + SHUNT_PROFILE_BLOCKS - 1) / SHUNT_PROFILE_BLOCKS;
    g.merged_blocks = rows16 ? (rows16 + g.merged_step - 1) / g.merged_step : 0;
  }
  g.log2_nnz = log2((double)a->nnz);
  g.serial = serial;
  g.out = out;
  g.scratch = static_cast<scratch_area *>(scratch);

  int64_t blocks = g.by_blocks ? g.groups : (g.groups + block_warps - 1) / block_warps;
  if (blocks > most) blocks = most;
  if (blocks < 1) blocks = 1;
  if (cudaMemsetAsync(scratch, 0, sizeof(scratch_area), stream) != cudaSuccess) return SHUNT_E_CUDA;
  const void *kernel = a->index_type == SHUNT_I32
                           ? reinterpret_cast<const void *>(profile_kernel<int32_t>)
                           : reinterpret_cast<const void *>(profile_kernel<int64_t>);
  cudaError_t e =
      cudaLaunchKernel(kernel, dim3((unsigned)blocks), dim3(block_threads), arguments, 0, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
