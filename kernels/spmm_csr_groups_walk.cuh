// spmm_csr_groups_walk.cuh: the list of a group, or one slice of it, by one warp: 8 rows of A
// times the warp's columns of B.
//
// A chunk is 32 vectors of the list, lane i with vector i.  As rows ascend, the entries of row
// r in a chunk are the next ones of the row, and which lane's is which follows from the masks:
//
//   lane               0  1  2  3  4  5 ..
//   mask bit r         1  0  0  1  1  0        ballot
//   entry of row r     e        e+1 e+2        e + bits of the ballot below the lane
//
// so all eight rows' columns and values are read coalesced, straight from CSR.  The columns go to
// registers and are compared with the hint's before any row of B is addressed by it; the values
// go to shared memory by cp.async, a zero where a row has no entry:
//
//   values[buffer]   8 rows x 32 vectors, in the order that Sums wants    columns[buffer][vector]
//
//   fetch chunk c + 1 :  A's columns and values, by the hint read one chunk earlier
//   multiply chunk c  :  Sums (spmm_csr_groups_fma.cuh, _mma.cuh)
//
// A zero that only fills up adds nothing to a finite sum, and makes a NaN of an Inf or NaN of B: a
// group with a NaN in its sums is computed again row by row, so what A does not hold never
// shows.
#pragma once
#include "kernels/ptx/cp_async_word.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/spmm_csr_groups_rows.cuh"

namespace shunt
{
namespace spmm_groups
{

template <class T> struct staging {
  T values[2][kGroup * kChunk];
  uint32_t columns[2][kChunk];
};

// What the hint says of a lane's vector of a chunk; beyond the list's end mask 0.
struct hinted {
  uint32_t column, mask;
};

// A slice of a group's list: vectors [at, end) in the hint's arrays.
struct list_slice {
  uint32_t list; // where the group's list begins
  uint32_t at, end;
  bool last;  // ends where the list does
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
//   place(i), kRow   where in values[] row 0 of vector i stands, and from one row to the next
//   multiply(values, columns, count)   the first `count` vectors of a chunk; beyond them values
//                                      are 0 and columns may be read
template <class T, class Sums> struct walker {
  const arguments<T> &a;
  staging<T> &s;
  Sums &sums;
  uint32_t next[kGroup]; // the next entry of each row; a stale list may lead beyond 2^31
  uint32_t last;         // the last entry of the group: no position is beyond
  int got[kGroup];       // A's columns of the chunk under way, base included

  __device__ __forceinline__ walker(const arguments<T> &arg, staging<T> &mine, Sums &to)
      : a(arg), s(mine), sums(to)
  {
  }

  __device__ __forceinline__ hinted hint_at(const list_slice &w, uint32_t at) const
  {
    const uint32_t i = at + threadIdx.x % 32;
    hinted h = {0, 0};
    if (i < w.end) {
      h.column = __ldg(a.hint.columns + i);
      h.mask = __ldg(a.hint.masks + i);
    }
    return h;
  }

  // Adds to next[] the entries that the list has before `until`, by words of four masks.
  __device__ __forceinline__ void skip(uint32_t list, uint32_t until)
  {
    const uint32_t *words = reinterpret_cast<const uint32_t *>(a.hint.masks);
    int found[kGroup] = {};
    for (uint32_t w = list / 4 + threadIdx.x % 32; w * 4 < until; w += 32) {
      uint32_t four = __ldg(words + w);
      if (w * 4 < list) four &= ~0u << (list - w * 4) * 8;
      if (until - w * 4 < 4) four &= (1u << (until - w * 4) * 8) - 1;
#pragma unroll
      for (int r = 0; r < kGroup; r++)
        found[r] += __popc(four & 0x01010101u << r);
    }
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      next[r] += __reduce_add_sync(kAll, found[r]);
  }

  // Starts reading A's part of a chunk.
  __device__ __forceinline__ void fetch(const hinted &h, int buffer)
  {
    const int lane = threadIdx.x % 32;
    const unsigned below = (1u << lane) - 1;
    const uint32_t to = ptx::shared_address(&s.values[buffer][Sums::place(lane)]);
#pragma unroll
    for (int r = 0; r < kGroup; r++) {
      const unsigned ballot = __ballot_sync(kAll, (h.mask & 1u << r) != 0);
      const uint32_t at = min(next[r] + __popc(ballot & below), last);
      next[r] += __popc(ballot);
      // Without a condition: a select would wait for what is loaded here and now.
      got[r] = load_low(a.columns, at, a.index_bytes);
      ptx::cp_async_word<sizeof(T)>(to + r * static_cast<int>(Sums::kRow * sizeof(T)),
                                    a.values + at, h.mask & 1u << r);
    }
    ptx::cp_async_commit();
  }

  // Whether A's columns are those of the hint; if so the rows of B may be read by them.
  __device__ __forceinline__ bool confirm(const hinted &h, uint32_t at, uint32_t end, int buffer)
  {
    const uint32_t lane = threadIdx.x % 32;
    const int wanted = static_cast<int>(h.column) + a.base;
    int differs = 0;
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      if (h.mask & 1u << r) differs |= got[r] ^ wanted;
    const bool here = at + lane < end;
    if (__any_sync(kAll, here && (differs != 0 || h.mask == 0))) return false;
    // Beyond the end: a row of B that this warp reads anyway, times zeros.
    const uint32_t first = __shfl_sync(kAll, h.column, 0);
    s.columns[buffer][lane] = here ? h.column : first;
    return true;
  }

  // Whether the slice is A's; then the sums are its product.
  __device__ __forceinline__ bool walk(const list_slice &w, int my_begin)
  {
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      next[r] = static_cast<uint32_t>(__shfl_sync(kAll, my_begin, r));
    last = static_cast<uint32_t>(__shfl_sync(kAll, my_begin, kGroup)) - 1;
    if (!w.sound) return false;
    if (w.at > w.list) skip(w.list, w.at);

    hinted h = hint_at(w, w.at), ahead = {0, 0};
    if (w.at < w.end) {
      fetch(h, 0);
      ahead = hint_at(w, w.at + kChunk);
    }
    int buffer = 0;
#pragma unroll 1
    for (uint32_t at = w.at; at < w.end; at += kChunk, buffer ^= 1) {
      ptx::cp_async_wait<0>();
      if (!confirm(h, at, w.end, buffer)) return false;
      __syncwarp(); // the chunk is there for all lanes; the one before has been read
      h = ahead;
      if (at + kChunk < w.end) {
        fetch(h, buffer ^ 1);
        ahead = hint_at(w, at + 2 * kChunk);
      }
      sums.multiply(s.values[buffer], s.columns[buffer], min(kChunk, static_cast<int>(w.end - at)));
    }
    return !w.last || ends_as_rows_do(my_begin);
  }

  // Whether each row has as many entries as the list has bits for it.
  __device__ __forceinline__ bool ends_as_rows_do(int my_begin) const
  {
    bool same = true;
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      same &= next[r] == static_cast<uint32_t>(__shfl_sync(kAll, my_begin, r + 1));
    return same;
  }
};

} // namespace spmm_groups
} // namespace shunt
