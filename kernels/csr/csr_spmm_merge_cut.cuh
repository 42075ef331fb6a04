// csr_spmm_merge_cut.cuh: the device side of cutting: where a tile begins and ends,
// and its part of A in shared memory.
//
// An item's index is its row plus its position: the end of row r is item
// r + offsets[r + 1], nonzero p of row r is item r + p.  So the corner of a tile
// that begins at item d is
//
//   row = number of rows r with r + offsets[r + 1] < d,   position = d - row
//
// which a block finds by probing 256 rows at a time: 2 dependent loads up to 262144
// rows, 3 up to 67 million.
//
// Shared memory of a block (bytes for T items, g groups, t = sizeof compute type):
//
//   counts   [32]      u32  tallies of the search, number of empty rows, alpha, beta
//   flags    [T / 32]  u32  bit `local` set: this nonzero ends its row
//   row_of   [T]       u16  at `local` of a row's last nonzero: row - tile's first row;
//                           from the tile's nonzero count on: the empty rows
//   columns  [T + pad] u32  column of each nonzero
//   values   [T + pad] t    value of each nonzero
//   open     [buffers][256][V] t   what each thread's run left open
//
// Runs are 4 elements apart more than they are long: groups of a warp, which read
// their runs 16 bytes at a time at the same step, then meet in different banks.
#pragma once
#include "kernels/csr/csr_spmm.cuh"

namespace shunt
{
namespace csr
{

constexpr int kCounts = 32;
constexpr int kScalars = kCounts - 8; // alpha and beta: up to 8 bytes each
constexpr int kEmptyCount = kScalars - 1;
constexpr int kProbes = 4; // rows per thread in the last step of the search
constexpr int kRunGap = 4;

// Elements of `columns` and `values`: a run is never shorter than a chunk.
inline int staged_elements(int tile, int lanes_log2)
{
  int groups = kThreads >> lanes_log2;
  int runs = (tile + kChunk - 1) / kChunk;
  return (tile + kChunk - 1) / kChunk * kChunk + kRunGap * (runs < groups ? runs : groups);
}

// Host side: cuts up the shared memory of a block; returns its size in bytes.
template <class T> int place_shared(args<T> *a, int vec)
{
  auto round16 = [](int x) { return (x + 15) / 16 * 16; };
  int elements = staged_elements(a->tile, a->lanes_log2);
  a->row_of_at = kCounts * 4 + round16((a->tile + 31) / 32 * 4);
  a->columns_at = a->row_of_at + round16(a->tile * 2);
  a->values_at = a->columns_at + round16(elements * 4);
  a->open_at = a->values_at + round16(elements * (int)sizeof(T));
  return a->open_at + a->buffers * kThreads * vec * (int)sizeof(T);
}

// Device side.
template <class T> struct staged {
  unsigned *counts, *flags;
  T *scalars;
  uint16_t *row_of;
  uint32_t *columns;
  T *values;
  T *open;

  __device__ __forceinline__ staged(unsigned char *at, const args<T> &a)
  {
    counts = reinterpret_cast<unsigned *>(at);
    scalars = reinterpret_cast<T *>(counts + kScalars);
    flags = counts + kCounts;
    row_of = reinterpret_cast<uint16_t *>(at + a.row_of_at);
    columns = reinterpret_cast<uint32_t *>(at + a.columns_at);
    values = reinterpret_cast<T *>(at + a.values_at);
    open = reinterpret_cast<T *>(at + a.open_at);
  }
};

// Where a tile begins, or ends before.
struct corner {
  int64_t row, position;
  int64_t row_begin, row_end; // positions of `row`; unset when row == rows
  bool cut;                   // `row` has nonzeros on both sides
};

// Sums two per-thread counts over the block into counts[0], counts[1].
__device__ __forceinline__ void tally(int first, int second, unsigned *counts)
{
  first = __reduce_add_sync(~0u, first);
  second = __reduce_add_sync(~0u, second);
  if (threadIdx.x % 32 == 0) {
    if (first) atomicAdd(&counts[0], first);
    if (second) atomicAdd(&counts[1], second);
  }
  __syncthreads();
}

// The rows of the corners of items d0 and d1 (see the head of the file); all
// threads get both.  `counts` is zero; two words of it are used up at each step.
template <class T>
__device__ __forceinline__ void find_rows(const args<T> &a, int64_t d0, int64_t d1,
                                          unsigned *counts, int64_t *row0, int64_t *row1)
{
  auto item = [&](int64_t r) { return load_index(a.offsets, r + 1, a.wide) - a.base + r; };
  int64_t low0 = 0, low1 = 0;
  int64_t width = a.rows; // the answers are in [low, low + width]

  for (; width > kProbes * kThreads; counts += 2) {
    int64_t step = (width + kThreads - 1) / kThreads;
    int64_t last = (threadIdx.x + 1) * step - 1; // of this thread's bucket of rows
    bool in0 = last < width && low0 + last < a.rows;
    bool in1 = last < width && low1 + last < a.rows;
    int64_t item0 = in0 ? item(low0 + last) : d0;
    int64_t item1 = in1 ? item(low1 + last) : d1;
    tally(item0 < d0, item1 < d1, counts);
    low0 += counts[0] * step;
    low1 += counts[1] * step;
    width = step - 1;
  }

  int less0 = 0, less1 = 0;
#pragma unroll
  for (int k = 0; k < kProbes; k++) {
    int64_t r = threadIdx.x + k * kThreads;
    if (r < width && low0 + r < a.rows) less0 += item(low0 + r) < d0;
    if (r < width && low1 + r < a.rows) less1 += item(low1 + r) < d1;
  }
  tally(less0, less1, counts);
  *row0 = low0 + counts[0];
  *row1 = low1 + counts[1];
}

// A row whose nonzeros all lie before the corner, and only its end behind it, is
// the earlier tile's: so that no row is cut between its last nonzero and its end.
template <class T>
__device__ __forceinline__ corner make_corner(const args<T> &a, int64_t row, int64_t d)
{
  corner at;
  at.row = row;
  at.position = d - row;
  at.row_begin = at.row_end = 0;
  at.cut = false;
  if (row < a.rows) {
    at.row_begin = load_index(a.offsets, row, a.wide) - a.base;
    at.row_end = load_index(a.offsets, row + 1, a.wide) - a.base;
    at.cut = at.row_begin < at.position;
    if (at.cut && at.row_end == at.position) {
      at.row++;
      at.row_begin = at.position;
      at.cut = false;
    }
  }
  return at;
}

// How the block's groups share the tile.
struct runs {
  int count;      // nonzeros of the tile
  int length;     // of a run: a multiple of kChunk
  uint32_t magic; // local * magic >> 20 == local / length for all local < 1024

  __device__ __forceinline__ runs(int count, int groups) : count(count)
  {
    int chunks = (count + kChunk - 1) / kChunk;
    length = max(1, (chunks + groups - 1) / groups) * kChunk;
    magic = (1u << 20) / length + 1;
  }
  __device__ __forceinline__ int run_of(int local) const
  {
    return (int)((uint32_t)local * magic >> 20);
  }
  // Where nonzero `local` stands in `columns` and `values`.
  __device__ __forceinline__ int staged_at(int local) const
  {
    return local + kRunGap * run_of(local);
  }
};

// Copies the tile's columns and values; the last chunk is filled up with zeros.
template <class S, class T>
__device__ __forceinline__ void stage_nonzeros(const args<T> &a, int64_t position, const runs &r,
                                               const staged<T> &s)
{
  const S *values = static_cast<const S *>(a.values);
  int end = (r.count + kChunk - 1) / kChunk * kChunk;
#pragma unroll 4
  for (int local = threadIdx.x; local < end; local += kThreads) {
    bool real = local < r.count;
    uint32_t column =
        real ? (uint32_t)(load_index(a.columns, position + local, a.wide) - a.base) : 0;
    T value = real ? widen<T>(values[position + local]) : T(0);
    s.columns[r.staged_at(local)] = column;
    s.values[r.staged_at(local)] = value;
  }
}

// Marks where the tile's rows end and lists its empty rows.
template <class T>
__device__ __forceinline__ void stage_rows(const args<T> &a, const corner &from, const corner &to,
                                           int count, const staged<T> &s)
{
  for (int64_t row = from.row + threadIdx.x; row < to.row; row += kThreads) {
    int64_t begin = load_index(a.offsets, row, a.wide) - a.base;
    int64_t end = load_index(a.offsets, row + 1, a.wide) - a.base;
    uint16_t within = (uint16_t)(row - from.row);
    if (end > begin) {
      int local = (int)(end - 1 - from.position);
      atomicOr(&s.flags[local >> 5], 1u << (local & 31));
      s.row_of[local] = within;
    } else {
      // The list's order varies; what is written for each row does not.
      s.row_of[count + atomicAdd(&s.counts[kEmptyCount], 1u)] = within;
    }
  }
}

// The last nonzero before `local` that ends a row; -1: none.
__device__ __forceinline__ int last_end_before(const unsigned *flags, int local)
{
  int word = local >> 5;
  unsigned bits = local & 31 ? flags[word] & ((1u << (local & 31)) - 1) : 0;
  while (!bits && word > 0) bits = flags[--word];
  return bits ? word * 32 + 31 - __clz(bits) : -1;
}

} // namespace csr
} // namespace shunt
