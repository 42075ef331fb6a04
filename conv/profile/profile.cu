// profile.cu: what a pattern looks like, in one read of offsets and columns.
//
// The unit is an aligned group of 8 rows.  Its offsets and a pass over its entries
// (profile_group.cuh) leave four masks of 8 bits, one bit a row:
//
//   filled     the row has an entry
//   unsorted   some column is not above its predecessor
//   crowded    some column lies in the same aligned four as the last but one before it
//   equal      the row's list is that of the row above (bit 0 unused)
//
// and everything counted (profile_counts.cuh) follows from them and the lengths.  Groups of 4 and 2
// lie inside those of 8, so they are counted from the same masks, one lane each:
//
//   lane            0              1       2       3   4   5   6
//   rows of it   0 1 2 3 4 5 6 7   0..3    4..7    01  23  45  67
//
// A group is a warp's work; those of more than `warp_most` entries wait in a list until the block
// has done the others, and then its warps take equal shares of each.  When rows are long, all groups
// are done so.
//
// Of 16-bit values, blocks of 16 rows are looked at once more, for the columns they have: a bit
// each in shared memory, a block row after the other by all threads of a block.
#include "conv/profile/profile_counts.cuh"

namespace shunt
{
namespace
{

__device__ const unsigned segment_weights[SHUNT_PROFILE_STRIP + 1] = {SHUNT_SEGMENT_WEIGHTS};

// The whole block, one group.
template <class I>
__device__ __forceinline__ void profile_long(const profile_job &g, int64_t group, tally &t,
                                             runs &run, unsigned *lengths, masks *shared)
{
  const group_offsets o = load_group<I>(g, group);
  const unsigned same = same_lengths(o);

  if (threadIdx.x == 0) *shared = 0;
  __syncthreads();
  const masks m = scan_any<I>(g, o, same, threadIdx.x / 32, block_warps, run);
  if (m && threadIdx.x % 32 == 0) atomicOr(shared, m);
  __syncthreads();
  if (threadIdx.x < 32) count(t, o, same, *shared, lengths);
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

// Groups that are too long for a warp, in shared memory.
struct waiting_groups {
  int64_t group[most_waiting];
  int count;
};

// Every warp its groups.
template <class I>
__device__ __forceinline__ void profile_groups(const profile_job &g, tally &t, runs &run,
                                               unsigned *lengths, waiting_groups &waiting)
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
    count(t, o, same, scan_any<I>(g, o, same, 0, 1, run), lengths);
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
  __shared__ unsigned lengths[SHUNT_SORTED_COUNTS];
  tally t = {};
  runs run = {weight_of, 0, 0, 0};
  unsigned long long tiles = 0;

  if (threadIdx.x <= SHUNT_PROFILE_STRIP) weight_of[threadIdx.x] = segment_weights[threadIdx.x];
  if (threadIdx.x < SHUNT_SORTED_COUNTS) lengths[threadIdx.x] = 0;
  if (threadIdx.x == 0) waiting.count = 0;
  __syncthreads();
  if (!g.by_blocks) profile_groups<I>(g, t, run, lengths, waiting);
  __syncthreads();
  const int64_t left = g.by_blocks ? (g.groups - blockIdx.x + gridDim.x - 1) / gridDim.x
                                   : min(waiting.count, most_waiting);
  for (int64_t i = 0; i < left; i++)
    profile_long<I>(g, g.by_blocks ? blockIdx.x + i * gridDim.x : waiting.group[i], t, run, lengths,
                    &shared);
  for (int i = threadIdx.x; i < SHUNT_PROFILE_MODULUS / 32; i += block_threads) seen[i] = 0;
  for (int64_t b = blockIdx.x; b < g.merged_blocks; b += gridDim.x)
    count_merged<I>(g, b * g.merged_step * 16, seen, tiles);
  __syncthreads();
  if (meet(g, t, run, tiles, lengths) && threadIdx.x == 0) report(g);
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
