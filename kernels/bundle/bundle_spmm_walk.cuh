// bundle_spmm_walk.cuh: the list of a group, or one slice of it, by one warp: 8 rows of A
// times the warp's columns of B.
//
// A chunk is 32 vectors of the list, lane i with vector i.  As rows ascend, the entries of row
// r in a chunk are the next ones of the row, and which lane's is which follows from the masks:
//
//   lane               0  1  2  3  4  5 ..
//   mask bit r         1  0  0  1  1  0        ballot
//   entry of row r     e        e+1 e+2        e + bits of the ballot below the lane
//
// so all eight rows' columns and values are read coalesced, straight from CSR, by cp.async, a zero
// where a row has no entry.  Each lane compares its vector's columns with the hint's before any row
// of B is addressed by them.  A step is half of a chunk or less; its rows of B come by cp.async
// too, while the step before is multiplied, each lane's to where it alone reads them:
//
//   values    8 rows x 64 vectors, two chunks, in the order that Sums wants     columns[64]
//   found     8 rows x 32 vectors: A's columns of one chunk, each lane's own
//   ring      two steps of B                                                    (Sums)
//
//   step        first of c       second ..         last of c         first of c + 1
//   A           fetch c + 1                        confirm c + 1     fetch c + 2
//   B           read step 1      read step 2 ..    read step 0 of c + 1
//   sums        multiply 0       multiply 1 ..     multiply last     multiply 0
//
// A step's turn begins when all that was read in the turn before has come, so nothing is counted.
// The hint's part of a chunk is read a chunk before A's.
//
// A zero that only fills up adds nothing to a finite sum, and makes a NaN of an Inf or NaN of B: a
// group with a NaN in its sums is computed again row by row, so what A does not hold never
// shows.
#pragma once
#include "kernels/bundle/bundle_spmm_args.cuh"
#include "kernels/ptx/cp_async_word.cuh"
#include "kernels/ptx/ldst.cuh"

namespace shunt
{
namespace bundle
{

constexpr int kStaged = 2 * kChunk;

template <class T> struct staging {
  T values[kGroup * kStaged];
  uint32_t columns[kStaged];
  int found[kGroup * kChunk]; // base included
};

// A slice of a group's list: vectors [at, end) in the hint's arrays.
struct list_slice {
  uint32_t list; // where the group's list begins
  uint32_t at, end;
  bool sound; // inside of the hint's arrays, no longer than the group
};

// Where the group's rows begin: lane r < 8 that of row r, lanes from 8 on the group's end.
template <class T>
__device__ __forceinline__ int row_begin_of_lane(const arguments<T> &a, int group)
{
  const int lane = threadIdx.x % 32, row0 = group * kGroup;
  return load_low(a.offsets, row0 + min(lane, min(kGroup, a.rows - row0)), a.index_bytes) - a.base;
}

// Sums has what a lane adds up, and
//   place(i), row(r, i)       where in values[] vector i stands, and its row r from there
//   step()                    vectors of a step: 4, 8 or 16, so no step is a whole chunk
//   read(columns, slot)       starts reading the rows of B of a step into slot 0 or 1 of its ring
//   multiply(values, slot)    the step in the slot; `values`: from its first vector on.  Beyond the
//                             end of the list values are 0 and columns some row's that may be read
template <class T, class Sums> struct walker {
  const arguments<T> &a;
  staging<T> &s;
  Sums &sums;
  int my_begin;  // row_begin_of_lane
  uint32_t next; // lane r: the next entry of row r; a stale list may lead beyond 2^31

  __device__ __forceinline__ walker(const arguments<T> &arg, staging<T> &mine, Sums &to,
                                    int row_begin)
      : a(arg), s(mine), sums(to), my_begin(row_begin), next(static_cast<uint32_t>(row_begin))
  {
  }

  // The mask of the lane's vector of a chunk; beyond the list's end 0.
  __device__ __forceinline__ uint32_t mask_at(uint32_t at, uint32_t end) const
  {
    const uint32_t i = at + threadIdx.x % 32;
    return i < end ? __ldg(a.hint.masks + i) : 0;
  }

  // Adds to next the entries that the list has before `until`, by words of four masks.
  __device__ __forceinline__ void skip(uint32_t list, uint32_t until)
  {
    const uint32_t *words = reinterpret_cast<const uint32_t *>(a.hint.masks);
    const int lane = threadIdx.x % 32;
    uint32_t found[kGroup] = {};
    for (uint32_t w = list / 4 + lane; w * 4 < until; w += 32) {
      uint32_t four = __ldg(words + w);
      if (w * 4 < list) four &= ~0u << (list - w * 4) * 8;
      if (until - w * 4 < 4) four &= (1u << (until - w * 4) * 8) - 1;
#pragma unroll
      for (int r = 0; r < kGroup; r++) found[r] += __popc(four & 0x01010101u << r);
    }
#pragma unroll
    for (int r = 0; r < kGroup; r++) {
      const uint32_t sum = __reduce_add_sync(kAll, found[r]);
      if (lane == r) next += sum;
    }
  }

  // Starts reading a chunk, all but B; `to`: 0 or 32, where in values and columns it stands.
  __device__ __forceinline__ void fetch(uint32_t at0, uint32_t end, uint32_t mask, int to)
  {
    const int lane = threadIdx.x % 32;
    const uint32_t below = (1u << lane) - 1;
    // No position is beyond the group's last entry.
    const uint32_t last = static_cast<uint32_t>(__shfl_sync(kAll, my_begin, kGroup)) - 1;
    const uint32_t values = ptx::shared_address(&s.values[Sums::place(to + lane)]);
    const uint32_t found = ptx::shared_address(&s.found[lane]);
    uint32_t mine = 0; // lane r: which lanes have an entry of row r
    ptx::cp_async_word<4>(ptx::shared_address(&s.columns[to + lane]), a.hint.columns + at0 + lane,
                          at0 + lane < end);
#pragma unroll
    for (int r = 0; r < kGroup; r++) {
      const uint32_t has = mask & 1u << r, ballot = __ballot_sync(kAll, has != 0);
      const uint32_t at = min(__shfl_sync(kAll, next, r) + __popc(ballot & below), last);
      ptx::cp_async_word<4>(found + r * static_cast<int>(kChunk * sizeof(int)),
                            low_word(a.columns, at, a.index_bytes), has);
      ptx::cp_async_word<sizeof(T)>(values + Sums::row(r, lane) * static_cast<int>(sizeof(T)),
                                    a.values + at, has);
      if (lane == r) mine = ballot;
    }
    next += __popc(mine);
  }

  // Whether A's columns are those of the hint; if so the rows of B may be read by them.
  __device__ __forceinline__ bool confirm(uint32_t mask, bool here, int to)
  {
    const int lane = threadIdx.x % 32;
    const uint32_t column = s.columns[to + lane];
    const int wanted = static_cast<int>(column) + a.base;
    int differs = 0;
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      if (mask & 1u << r) differs |= s.found[r * kChunk + lane] ^ wanted;
    if (__any_sync(kAll, here && (differs != 0 || mask == 0))) return false;
    // Beyond the end: a row of B that this warp reads anyway, times zeros.
    const uint32_t first = __shfl_sync(kAll, column, 0);
    if (!here) s.columns[to + lane] = first;
    return true;
  }

  // Whether the slice is A's, but for how many entries follow; then the sums are its product.
  __device__ __forceinline__ bool walk(const list_slice &w)
  {
    const uint32_t lane = threadIdx.x % 32, step = sums.step();
    if (!w.sound) return false;
    uint32_t mask = mask_at(w.at, w.end), ahead = mask_at(w.at + kChunk, w.end);
    if (w.at > w.list) skip(w.list, w.at);
    if (w.at < w.end) {
      fetch(w.at, w.end, mask, 0);
      ptx::cp_async_commit();
      ptx::cp_async_wait<0>();
      if (!confirm(mask, w.at + lane < w.end, 0)) return false;
      __syncwarp(); // the chunk is there for all lanes
      sums.read(s.columns, 0);
      ptx::cp_async_commit();
    }
    const uint32_t count = w.end - w.at;
    int slot = 0;
#pragma unroll 1
    for (uint32_t e = 0; e < count; e += step, slot ^= 1) {
      const uint32_t then = e + step;
      ptx::cp_async_wait<0>();
      __syncwarp(); // the step is there for all lanes, and they have multiplied the one before
      if (e % kChunk == 0 && e + kChunk < count) {
        mask = ahead;
        fetch(w.end - count + e + kChunk, w.end, mask, (e + kChunk) % kStaged);
        ahead = mask_at(w.end - count + e + 2 * kChunk, w.end);
      }
      if (then < count) {
        if (then % kChunk == 0) {
          if (!confirm(mask, then + lane < count, then % kStaged)) return false;
          __syncwarp();
        }
        sums.read(s.columns + then % kStaged, slot ^ 1);
      }
      ptx::cp_async_commit();
      sums.multiply(s.values + Sums::place(e % kStaged), slot);
    }
    return true;
  }

  // Whether each row has as many entries as the list had bits for it, up to the end of the slice.
  __device__ __forceinline__ bool ends_as_rows_do() const
  {
    const uint32_t end = static_cast<uint32_t>(__shfl_down_sync(kAll, my_begin, 1));
    return __all_sync(kAll, threadIdx.x % 32 >= kGroup || next == end);
  }
};

} // namespace bundle
} // namespace shunt
