// dcsr_csc_online.cuh: strips of dcsr made from CSC in shared memory, while they are multiplied.
//
// The conversion unit of Fujiki et al. (SC '19; its functional model:
// conv/dcsr/dcsr_hardware_model.h) as a warp (dcsr_csc_producer.cuh) that fills batches of
// segments:
//
//     row    r0   r1  r2 ..                 up to kRows segments
//     begin  0    3   4  ..                 and kEntries entries
//     column 5 9 40 | 5 | 0 1 2 ..          of the strip
//     value  . . .  | . | . . . ..
//
// A block has kPairs producers and as many consumers; each pair has a part of the strip's rows,
// found by binary search in the columns.  Strip s has blocks f(s) .. f(s + 1) - 1 with
// f(s) = floor(entries before s / chunk) + s, so that a strip of many entries is no queue.  While
// producers fill one batch, consumers multiply the other with the strip of B in shared memory:
//
//     turn       0         1          2          3
//     producer   batch 0   batch 1    batch 0    ..
//     consumer   -         of turn 0  of turn 1  ..        one barrier a turn
//
// Segments are numbered without counting them first: a part's begin at the number of entries that
// stand before it, which is never less than the number of segments before it.  So P and the list of
// rows have as many places as A has entries; those unused say row -1.
//
// What a consumer does with a batch its `Sink` says: the product writes P, a test the segments.
#pragma once
#include "kernels/dcsr/dcsr_csc_producer.cuh"

namespace shunt
{
namespace dcsr
{

constexpr int kPairs = 4;
constexpr int kOnlineThreads = kPairs * 64;

// P and the list of rows.
template <class T> struct partial_sink {
  lane_sums<T> *partial; // [entries of A][1 << lanes_log2]
  int32_t *row_of;       // [entries of A], -1 where no segment is

  __device__ __forceinline__ void take(const batch<T> &from, const lane_columns<T> *tile,
                                       int lanes_log2) const
  {
    const int thread = threadIdx.x % 32, lane = thread & ((1 << lanes_log2) - 1);
    if (thread < from.segments)
      row_of[from.first + thread] = static_cast<int32_t>(from.row[thread]);
    for (int s = thread >> lanes_log2; s < from.segments; s += 32 >> lanes_log2) {
      lane_sums<T> sum = {};
      for (int q = from.begin[s]; q < from.begin[s + 1]; q++)
        add_row<T>(sum, from.value[q], tile[(from.column[q] << lanes_log2) + lane]);
      partial[(static_cast<int64_t>(from.first + s) << lanes_log2) + lane] = sum;
    }
  }
};

// Which strip a block is for.
template <class I> struct strip_blocks {
  const I *offsets;
  int64_t columns, strips, chunk;
  int base;

  __device__ __forceinline__ int64_t first(int64_t s) const
  {
    return (offsets[min(s * kStrip, columns)] - base) / chunk + s;
  }
  __device__ __forceinline__ int64_t strip(int64_t block) const
  {
    return warp_search(strips - 1, [&](int64_t s) { return first(s + 1) > block; });
  }
};

template <class T> inline int64_t online_blocks(const csc_view<T> &a, int64_t entries)
{
  return entries / a.chunk + (a.columns + kStrip - 1) / kStrip;
}

template <class T, class I> inline int online_bytes(const b_panel<T> &b)
{
  return kPairs * static_cast<int>(sizeof(pair_memory<T, I>)) +
         kStrip * b.width() * static_cast<int>(sizeof(T));
}

template <class T, class I, class Sink>
__global__ void __launch_bounds__(kOnlineThreads)
    spmm_csc_online(const __grid_constant__ csc_view<T> a, const __grid_constant__ b_panel<T> b,
                    const __grid_constant__ Sink sink)
{
  extern __shared__ __align__(16) unsigned char shared[];
  pair_memory<T, I> *pairs = reinterpret_cast<pair_memory<T, I> *>(shared);
  lane_columns<T> *tile = reinterpret_cast<lane_columns<T> *>(pairs + kPairs);
  const strip_blocks<I> blocks = {static_cast<const I *>(a.offsets), a.columns,
                                  (a.columns + kStrip - 1) / kStrip, a.chunk, a.base};
  const int64_t strip = blocks.strip(blockIdx.x), first = strip * kStrip;
  if (blocks.offsets[first] == blocks.offsets[min(first + kStrip, a.columns)]) return;

  const int warp = threadIdx.x / 32, me = warp % kPairs;
  const bool produces = warp < kPairs;
  pair_memory<T, I> &memory = pairs[me];
  producer<T, I> p = {a, memory, {}, 0};
  if (produces) {
    const int64_t begin = blocks.first(strip), end = blocks.first(strip + 1);
    p.start(strip, static_cast<int>(blockIdx.x - begin) * kPairs + me,
            static_cast<int>(end - begin) * kPairs);
  } else {
    load_tile(b, first, kStrip, tile, threadIdx.x - kPairs * 32, kPairs * 32);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
  }
  for (int turn = 0;; turn++) {
    if (produces)
      p.fill(memory.batches[turn & 1]);
    else if (turn > 0)
      sink.take(memory.batches[(turn + 1) & 1], tile, b.lanes_log2);
    // Producers have seen the end of their own; consumers then have nothing left to take.
    if (!__syncthreads_or(produces && memory.batches[turn & 1].segments > 0)) break;
  }
}

} // namespace dcsr
} // namespace shunt
