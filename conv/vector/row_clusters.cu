// row_clusters.cu: similar rows next to each other, on the device (conv/vector/row_clusters.h).
//
// In order, each for all rows:
//
//   sketch_kernel   a warp a row: its hashes' sum and minima, coalesced over the row
//   (sort)          by the sum
//   mark_kernel     a thread a place: bisection tells its run's ends, so whether it has a group
//   (sort)          rows with a group first, as they stand; the others by their minima
//   leader_kernel   32 rows a block, a lane each; 16 warps each compare them with a slice of the
//                   window, 32 sketches at a time in shared memory: the best of all, then the
//                   first that is half as good
//   (sort)          by their leaders
//   mark_kernel     has the leader eight rows?
//   (sort)          those that have a group first; the others by their leaders' minima
//   group_kernel    512 places a block, a thread each; the sketches in shared memory.  Row by row a
//                   block-wide maximum says which is next:
//
//                     key   | similarity to the seed | 511 - thread |     0: has a group
//
// The sorts' launches bound small matrices, comparisons larger ones: rows x 8192 x 2 of them at
// most, some 50 operations each.
#include <cuda_runtime.h>

#include "conv/vector/row_sketch.h"

namespace shunt
{
namespace
{

constexpr int kWords = SHUNT_SKETCH_WORDS, kMinima = SHUNT_SKETCH_MINIMA;
constexpr int kWindow = SHUNT_CLUSTER_WINDOW, kHood = SHUNT_CLUSTER_HOOD;
constexpr unsigned kAll = 0xffffffffu;

struct sketch_job {
  const void *offsets, *columns;
  int64_t rows, nnz;
  int base, hash_bits;
  shunt_row_clusters k;
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

// ---- sketches --------------------------------------------------------------------------

constexpr int kSketchWarps = 8;

// The sum of all lanes' words of 64 bits.
__device__ __forceinline__ uint64_t warp_sum(uint64_t x)
{
#pragma unroll
  for (int step = 16; step > 0; step /= 2) x += __shfl_xor_sync(kAll, x, step);
  return x;
}

template <class I>
__global__ void __launch_bounds__(kSketchWarps * 32)
    sketch_kernel(const __grid_constant__ sketch_job j)
{
  __shared__ uint32_t bins[kSketchWarps][SHUNT_SKETCH_BINS];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kSketchWarps + warp;
  if (row >= j.rows) return;
  const I *offsets = static_cast<const I *>(j.offsets),
          *columns = static_cast<const I *>(j.columns);
  int64_t begin = from_base(offsets[row], j.base), end = from_base(offsets[row + 1], j.base);
  if (begin < 0 || end < begin || end > j.nnz) begin = end = 0;

  uint64_t sum = 0;
  uint32_t minimum[kMinima];
#pragma unroll
  for (int i = 0; i < kMinima; i++) minimum[i] = UINT32_MAX;
  bins[warp][lane] = UINT32_MAX;
  __syncwarp();
  for (int64_t p = begin + lane; p < end; p += 32) {
    const uint64_t hash = shunt_sketch_hash(from_base(columns[p], j.base));
    sum += hash;
    atomicMin(&bins[warp][hash % SHUNT_SKETCH_BINS], static_cast<uint32_t>(hash >> 32));
#pragma unroll
    for (int i = 0; i < kMinima; i++) minimum[i] = min(minimum[i], shunt_sketch_reorder(hash, i));
  }
  __syncwarp();
  sum = warp_sum(sum);
#pragma unroll
  for (int i = 0; i < kMinima; i++) minimum[i] = __reduce_min_sync(kAll, minimum[i]);

  // Lane 4 w + i has byte i of word w.
  const uint32_t byte = shunt_sketch_byte(bins[warp][lane]);
  uint32_t word = byte << lane % 4 * 8;
  word |= __shfl_xor_sync(kAll, word, 1);
  word |= __shfl_xor_sync(kAll, word, 2);
  if (lane % 4 == 0) j.k.sketch[row * kWords + lane / 4] = word;
  const int bit = 8 * (lane % 4) + 7 - lane / 4; // of shunt_sketch_zeros
  const uint32_t filled = __reduce_or_sync(kAll, byte ? 1u << bit : 0u);
  if (lane != 0) return;
  j.k.filled[row] = filled;
  j.k.own_key[row] = shunt_sketch_key(minimum[0], minimum[1]);
  j.k.leader_key[row] = shunt_sketch_key(minimum[2], minimum[3]);
  j.k.pairs.keys[row] = sum << (64 - j.hash_bits) >> (64 - j.hash_bits);
  static_cast<int32_t *>(j.k.pairs.places)[row] = static_cast<int32_t>(row);
}

// ---- rows with the same columns -----------------------------------------------------------

// The first place whose key is `key` or more (beyond: more).
__device__ __forceinline__ int64_t bisect(const uint64_t *keys, int64_t n, uint64_t key,
                                          bool beyond)
{
  int64_t low = 0, high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (keys[middle] < key || (beyond && keys[middle] == key))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// By leaders: of rows with a leader, exactly eight; else: of rows with a list, every eight.
__global__ void __launch_bounds__(256)
    mark_kernel(const __grid_constant__ shunt_row_clusters k, bool by_leaders)
{
  const int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= k.rows) return;
  const uint64_t *keys = k.pairs.keys, key = keys[i];
  const int32_t row = static_cast<const int32_t *>(k.pairs.places)[i];
  const int64_t begin = bisect(keys, k.rows, key, false);
  const int64_t many = bisect(keys, k.rows, key, true) - begin;
  const bool whole = by_leaders ? key == 0 || many == SHUNT_CLUSTER_ROWS
                                : i - begin < many / SHUNT_CLUSTER_ROWS * SHUNT_CLUSTER_ROWS;
  k.spare.keys[i] = whole ? 0 : by_leaders ? k.leader_key[key - 1] : k.own_key[row];
  static_cast<int32_t *>(k.spare.places)[i] = row;
}

// ---- leaders -------------------------------------------------------------------------------

constexpr int kLeaderWarps = 16, kSlice = kHood / kLeaderWarps;

// A row's sketch in registers.
struct __align__(16) sketch
{
  uint32_t word[kWords], filled, unused[3]; // a multiple of 16 bytes

  __device__ __forceinline__ void load(const shunt_row_clusters &k, int32_t row)
  {
    const uint4 *from = reinterpret_cast<const uint4 *>(k.sketch) + static_cast<int64_t>(row) * 2;
    const uint4 low = __ldg(from), high = __ldg(from + 1);
    word[0] = low.x, word[1] = low.y, word[2] = low.z, word[3] = low.w;
    word[4] = high.x, word[5] = high.y, word[6] = high.z, word[7] = high.w;
    filled = __ldg(k.filled + row);
  }
  __device__ __forceinline__ shunt_similarity compare(const sketch &with) const
  {
    return shunt_sketch_compare(word, filled, with.word, with.filled);
  }
};

// The first place of [begin, end) that is free: those that are not stand before it.
__device__ __forceinline__ int64_t first_free(const uint64_t *keys, int64_t begin, int64_t end)
{
  return begin + bisect(keys + begin, end - begin, SHUNT_CLUSTER_FREE, false);
}

// The sketches of the 32 places from j on that lie before `to`; how many these are.
__device__ __forceinline__ int bring(const shunt_row_clusters &k, const int32_t *rows, int64_t j,
                                     int64_t to, sketch (&others)[32])
{
  const int lane = threadIdx.x % 32;
  __syncwarp(); // all are done with those before
  if (j + lane < to) others[lane].load(k, rows[j + lane]);
  __syncwarp();
  return static_cast<int>(min(to - j, int64_t(32)));
}

__global__ void __launch_bounds__(kLeaderWarps * 32)
    leader_kernel(const __grid_constant__ shunt_row_clusters k)
{
  __shared__ sketch others[kLeaderWarps][32];
  __shared__ shunt_similarity best_of[kLeaderWarps][32];
  __shared__ int first_of[kLeaderWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * 32 + lane;
  const int64_t begin = i / kHood * kHood, end = min(begin + kHood, k.rows);
  const int32_t *rows = static_cast<const int32_t *>(k.pairs.places);
  const bool there = i < k.rows, free = there && k.pairs.keys[i] >= SHUNT_CLUSTER_FREE;
  const int32_t row = there ? rows[i] : 0;
  if (there && warp == 0) static_cast<int32_t *>(k.spare.places)[i] = row;
  if (there && warp == 0 && !free) k.spare.keys[i] = 0;
  if (!__any_sync(kAll, free)) return; // all warps alike

  sketch mine;
  mine.load(k, row);
  const int64_t from = max(begin + warp * kSlice, first_free(k.pairs.keys, begin, end));
  const int64_t to = min(begin + (warp + 1) * kSlice, end);
  shunt_similarity best = {0, 1};
  for (int64_t j = from; j < to; j += 32) {
    const int many = bring(k, rows, j, to, others[warp]);
#pragma unroll 4
    for (int o = 0; o < many; o++) {
      const shunt_similarity s = mine.compare(others[warp][o]);
      if (j + o != i && shunt_sketch_less(best, s)) best = s;
    }
  }
  best_of[warp][lane] = best;
  __syncthreads();
  for (int w = 0; w < kLeaderWarps; w++)
    if (shunt_sketch_less(best, best_of[w][lane])) best = best_of[w][lane];

  bool found = !free || best.equal == 0;
  int first = kHood;
  for (int64_t j = from; j < to && !__all_sync(kAll, found || j >= i); j += 32) {
    const int many = bring(k, rows, j, to, others[warp]);
#pragma unroll 4
    for (int o = 0; o < many; o++) {
      const bool good = shunt_sketch_half(mine.compare(others[warp][o]), best);
      if (good && !found && j + o < i) first = static_cast<int>(j + o - begin), found = true;
    }
  }
  first_of[warp][lane] = first;
  __syncthreads();
  if (warp != 0 || !free) return;
  for (int w = 1; w < kLeaderWarps; w++) first = min(first, first_of[w][lane]);
  k.spare.keys[i] = 1 + static_cast<uint64_t>(first < kHood ? rows[begin + first] : row);
}

// ---- groups --------------------------------------------------------------------------------

constexpr int kGroupWarps = kWindow / 32;
static_assert(kGroupWarps <= 32, "a warp looks at one number of each");

// The block's largest x; `turn`: of two numbers, another than in the call before.
__device__ __forceinline__ uint32_t block_max(uint32_t x, uint32_t (&of_warp)[2][kGroupWarps],
                                              int turn)
{
  const int lane = threadIdx.x % 32;
  x = __reduce_max_sync(kAll, x);
  if (lane == 0) of_warp[turn][threadIdx.x / 32] = x;
  __syncthreads();
  return __reduce_max_sync(kAll, of_warp[turn][lane % kGroupWarps]);
}

__global__ void __launch_bounds__(kWindow)
    group_kernel(const __grid_constant__ shunt_row_clusters k, uint32_t *row_of)
{
  __shared__ sketch sketches[kWindow];
  __shared__ uint32_t of_warp[2][kGroupWarps];
  const uint32_t thread = threadIdx.x;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kWindow, i = begin + thread;
  const bool there = i < k.rows;
  const int32_t row = there ? static_cast<const int32_t *>(k.pairs.places)[i] : 0;
  bool free = there && k.pairs.keys[i] >= SHUNT_CLUSTER_FREE;
  if (there && !free) row_of[i] = static_cast<uint32_t>(row);
  int left = __syncthreads_count(free);
  if (left == 0) return;
  int64_t at = begin + __syncthreads_count(there && !free);
  sketches[thread].load(k, row);
  const sketch mine = sketches[thread];

  for (int turn = 0; left > 0;) {
    // Before its end each round has a barrier, so the sketches are there.
    const uint32_t seed = kWindow - block_max(free ? kWindow - thread : 0, of_warp, turn);
    uint32_t key = 0;
    turn ^= 1;
    if (free)
      key = thread == seed ? UINT32_MAX
                           : 1 + (shunt_sketch_score(sketches[seed].compare(mine)) * kWindow +
                                  kWindow - 1 - thread);
    for (int m = 0; m < SHUNT_CLUSTER_ROWS && left > 0; m++, left--, at++) {
      const uint32_t most = block_max(key, of_warp, turn);
      turn ^= 1;
      if (key != most) continue; // keys differ
      row_of[at] = static_cast<uint32_t>(row);
      key = 0;
      free = false;
    }
  }
}

// ---- the whole -----------------------------------------------------------------------------

template <class... P>
bool launch(void (*kernel)(P...), int64_t blocks, int threads, cudaStream_t stream, P... parameters)
{
  void *list[] = {&parameters...};
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel),
                          dim3(static_cast<unsigned>(blocks)), dim3(threads), list, 0,
                          stream) == cudaSuccess;
}

int64_t parts_of(int64_t n, int64_t size)
{
  return (n + size - 1) / size;
}

void exchange(shunt_row_clusters *k)
{
  const shunt_pairs kept = k->pairs;
  k->pairs = k->spare;
  k->spare = kept;
}

bool sort(shunt_row_clusters *k, int bits, cudaStream_t stream)
{
  return shunt_sort_pairs(k->temporary, &k->pairs, &k->spare, k->rows, SHUNT_I32, 0, bits,
                          stream) == SHUNT_OK;
}

bool sketch_rows(const shunt_csr *a, const shunt_row_clusters &k, cudaStream_t stream)
{
  const sketch_job j = {
      a->row_offsets, a->columns, a->rows, a->nnz, a->base, shunt_sketch_hash_bits(a->rows), k};
  const int64_t blocks = parts_of(a->rows, kSketchWarps);
  return a->index_type == SHUNT_I32
             ? launch(sketch_kernel<int32_t>, blocks, kSketchWarps * 32, stream, j)
             : launch(sketch_kernel<int64_t>, blocks, kSketchWarps * 32, stream, j);
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" size_t shunt_row_clusters_cuda_bytes(const struct shunt_csr *a)
{
  shunt_row_clusters k;
  return shunt_row_clusters_lay_out(a, shunt_sort_bytes(a->rows, SHUNT_I32), NULL, &k);
}

extern "C" shunt_status shunt_csr_cluster_rows_cuda(const struct shunt_csr *a, uint32_t *row_of,
                                                    void *scratch, size_t scratch_bytes,
                                                    const struct shunt_device *d,
                                                    shunt_stream stream)
{
  shunt_row_clusters k;
  (void)d;
  const size_t bytes = shunt_row_clusters_cuda_bytes(a);
  if (bytes == 0) return SHUNT_E_UNSUPPORTED;
  if (!scratch || scratch_bytes < bytes || reinterpret_cast<uintptr_t>(scratch) % 256)
    return SHUNT_E_WORKSPACE;
  shunt_row_clusters_lay_out(a, shunt_sort_bytes(a->rows, SHUNT_I32), scratch, &k);

  bool good = sketch_rows(a, k, stream) && sort(&k, shunt_sketch_hash_bits(k.rows), stream) &&
              launch(mark_kernel, parts_of(k.rows, 256), 256, stream, k, false);
  exchange(&k);
  good = good && sort(&k, SHUNT_CLUSTER_KEY_BITS, stream) &&
         launch(leader_kernel, parts_of(k.rows, 32), kLeaderWarps * 32, stream, k);
  exchange(&k);
  good = good && sort(&k, shunt_sketch_leader_bits(k.rows), stream) &&
         launch(mark_kernel, parts_of(k.rows, 256), 256, stream, k, true);
  exchange(&k);
  good = good && sort(&k, SHUNT_CLUSTER_KEY_BITS, stream) &&
         launch(group_kernel, parts_of(k.rows, kWindow), kWindow, stream, k, row_of);
  return good ? SHUNT_OK : SHUNT_E_CUDA;
}
