// sort.cu: the sort and the running sum of sort.h.
//
// Running sum: in tiles of 2048 numbers, a block each.
//
//   tiles     | 3 1 4 ..  | 1 5 9 ..  | 2 6 ..        1. a block adds up its tile
//   totals    | 31        | 27        | 22            2. one block sums these up: 0 31 58
//   result    | 3 4 8 ..  | 32 37 ..  | 60 66 ..      3. each tile sums up from there
//
// Sort: from the lowest digit of 8 bits to the highest, each pass stable, in tiles of 2048 pairs:
//
//   1. a block counts the digits of its tile:   counts[digit][tile]
//   2. the running sum of counts: where the tile's pairs of that digit go
//   3. a block ranks its pairs among those of the same digit before them in the tile, and puts
//      them there.  Warp w has 256 pairs one after another, and takes 32 at a time; lanes of
//      equal digits find each other with match_any, so that a pair's rank is
//        those of warps before + those of rounds before + lanes before.
#include <cuda_runtime.h>

#include "conv/common/sort.h"

namespace shunt
{
namespace
{

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kItems = 8;                // a thread
constexpr int kTile = kThreads * kItems; // a block
constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
constexpr unsigned kAll = 0xffffffffu;
static_assert(kDigits == kThreads, "a thread looks after a digit");

int64_t tiles_of(int64_t n)
{
  return (n + kTile - 1) / kTile;
}

// ---- running sum -------------------------------------------------------------------------------

// The sum of the block's threads before this one; *total of all of them.
template <class T> __device__ __forceinline__ T sum_before(T x, T *total)
{
  __shared__ T warp_sums[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T sum = x, before = 0, all = 0;

#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T left = __shfl_up_sync(kAll, sum, step);
    if (lane >= step) sum += left;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();
#pragma unroll
  for (int w = 0; w < kWarps; w++) {
    if (w == warp) before = all;
    all += warp_sums[w];
  }
  __syncthreads();
  *total = all;
  return before + sum - x;
}

template <class T>
__global__ void __launch_bounds__(kThreads) totals_kernel(const T *numbers, int64_t n, T *totals)
{
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile;
  T sum = 0, total;

  for (int i = 0; i < kItems; i++) {
    const int64_t at = first + i * kThreads + threadIdx.x;
    if (at < n) sum += numbers[at];
  }
  sum_before(sum, &total);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// totals[t] = totals[0] + .. + totals[t - 1], by one block.
template <class T>
__global__ void __launch_bounds__(kThreads) starts_kernel(T *totals, int64_t tiles)
{
  T carried = 0, total;

  for (int64_t first = 0; first < tiles; first += kThreads) {
    const int64_t at = first + threadIdx.x;
    const T x = at < tiles ? totals[at] : T(0);
    const T before = sum_before(x, &total);
    if (at < tiles) totals[at] = carried + before;
    carried += total;
  }
}

// Inclusive sums; `exclusive`: each without its own number.
template <class T>
__global__ void __launch_bounds__(kThreads)
    sums_kernel(T *numbers, int64_t n, const T *starts, bool exclusive)
{
  T carried = starts[blockIdx.x], total;

  for (int i = 0; i < kItems; i++) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * kTile + i * kThreads + threadIdx.x;
    const T x = at < n ? numbers[at] : T(0);
    const T before = sum_before(x, &total);
    if (at < n) numbers[at] = carried + before + (exclusive ? T(0) : x);
    carried += total;
  }
}

template <class... P>
bool launch(void (*kernel)(P...), int64_t blocks, cudaStream_t stream, P... parameters)
{
  void *list[] = {&parameters...};

  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel),
                          dim3(static_cast<unsigned>(blocks)), dim3(kThreads), list, 0,
                          stream) == cudaSuccess;
}

template <class T>
bool running_sum(T *numbers, int64_t n, T *totals, bool exclusive, cudaStream_t stream)
{
  const int64_t tiles = tiles_of(n);

  return launch(totals_kernel<T>, tiles, stream, static_cast<const T *>(numbers), n, totals) &&
         launch(starts_kernel<T>, 1, stream, totals, tiles) &&
         launch(sums_kernel<T>, tiles, stream, numbers, n, static_cast<const T *>(totals),
                exclusive);
}

// ---- sort --------------------------------------------------------------------------------------

__device__ __forceinline__ int digit_of(uint64_t key, int shift, int mask)
{
  return static_cast<int>(key >> shift) & mask;
}

template <class J>
__global__ void __launch_bounds__(kThreads)
    count_kernel(const uint64_t *keys, int64_t n, int shift, int mask, J *counts)
{
  __shared__ int count[kDigits];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile;

  count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < kItems; i++) {
    const int64_t at = first + i * kThreads + threadIdx.x;
    if (at < n) atomicAdd(&count[digit_of(keys[at], shift, mask)], 1);
  }
  __syncthreads();
  counts[static_cast<int64_t>(threadIdx.x) * gridDim.x + blockIdx.x] =
      static_cast<J>(count[threadIdx.x]);
}

template <class J>
__global__ void __launch_bounds__(kThreads)
    scatter_kernel(const uint64_t *keys, const J *places, uint64_t *sorted_keys, J *sorted_places,
                   int64_t n, int shift, int mask, const J *starts)
{
  __shared__ int seen[kWarps][kDigits]; // of a digit, in the warp; later in the warps before
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile + warp * (32 * kItems) + lane;
  int digit[kItems], rank[kItems];

  for (int w = 0; w < kWarps; w++) seen[w][threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; i++) {
    const int64_t at = first + 32 * i;
    digit[i] = at < n ? digit_of(keys[at], shift, mask) : kDigits; // kDigits: no pair
    const unsigned peers = __match_any_sync(kAll, digit[i]);
    const unsigned before = peers & ((1u << lane) - 1);
    rank[i] = digit[i] < kDigits ? seen[warp][digit[i]] + __popc(before) : 0;
    __syncwarp();
    if (digit[i] < kDigits && before == 0) seen[warp][digit[i]] += __popc(peers);
    __syncwarp();
  }
  __syncthreads();
  for (int w = 0, sum = 0; w < kWarps; w++) {
    const int count = seen[w][threadIdx.x];
    seen[w][threadIdx.x] = sum;
    sum += count;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; i++) {
    if (digit[i] == kDigits) continue;
    const int64_t start = starts[static_cast<int64_t>(digit[i]) * gridDim.x + blockIdx.x];
    const int64_t to = start + seen[warp][digit[i]] + rank[i];
    sorted_keys[to] = keys[first + 32 * i];
    sorted_places[to] = places[first + 32 * i];
  }
}

// In `temporary`: counts [kDigits][tiles], and the totals of a running sum of n or of them.
struct parts {
  int64_t counts, totals; // in numbers of the type of places
};

parts parts_of(int64_t n)
{
  const int64_t counts = tiles_of(n) * kDigits;
  const int64_t larger = counts > n ? counts : n;

  return {counts, tiles_of(larger)};
}

template <class J>
bool sort(void *temporary, shunt_pairs *pairs, shunt_pairs *spare, int64_t n, int first_bit,
          int last_bit, cudaStream_t stream)
{
  const int64_t tiles = tiles_of(n);
  const parts room = parts_of(n);
  J *counts = static_cast<J *>(temporary), *totals = counts + room.counts;

  for (int shift = first_bit; shift < last_bit; shift += kDigitBits) {
    const int bits = last_bit - shift < kDigitBits ? last_bit - shift : kDigitBits;
    const int mask = (1 << bits) - 1;
    const uint64_t *keys = pairs->keys;
    if (!launch(count_kernel<J>, tiles, stream, keys, n, shift, mask, counts) ||
        !running_sum(counts, room.counts, totals, true, stream) ||
        !launch(scatter_kernel<J>, tiles, stream, keys, static_cast<const J *>(pairs->places),
                spare->keys, static_cast<J *>(spare->places), n, shift, mask,
                static_cast<const J *>(counts)))
      return false;
    const shunt_pairs sorted = *spare;
    *spare = *pairs;
    *pairs = sorted;
  }
  return true;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" size_t shunt_sort_bytes(int64_t n, shunt_type place)
{
  const parts room = parts_of(n);

  return static_cast<size_t>(room.counts + room.totals) * shunt_type_size(place);
}

extern "C" shunt_status shunt_sort_pairs(void *temporary, struct shunt_pairs *pairs,
                                         struct shunt_pairs *spare, int64_t n, shunt_type place,
                                         int first_bit, int last_bit, shunt_stream stream)
{
  const bool good =
      n == 0 ||
      (place == SHUNT_I32 ? sort<int32_t>(temporary, pairs, spare, n, first_bit, last_bit, stream)
                          : sort<int64_t>(temporary, pairs, spare, n, first_bit, last_bit, stream));

  return good ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_running_sum(void *temporary, void *sums, int64_t n, shunt_type place,
                                          shunt_stream stream)
{
  const bool good = n == 0 || (place == SHUNT_I32
                                   ? running_sum(static_cast<int32_t *>(sums), n,
                                                 static_cast<int32_t *>(temporary), false, stream)
                                   : running_sum(static_cast<int64_t *>(sums), n,
                                                 static_cast<int64_t *>(temporary), false, stream));

  return good ? SHUNT_OK : SHUNT_E_CUDA;
}
