// dcsr_csc_producer.cuh: a warp that makes the segments of a strip from its columns, row by row.
//
// The strip's 64 columns are two a lane.  Of each the warp keeps
//
//     column t, t + 32     frontier -> [ . . . . . . . . ]     16 entries, brought by cp.async
//                          boundary: the end of what is of the part
//
// and, a step at a time: the minimal row at the frontiers by a warp reduction (the comparator tree
// of Fujiki et al., SC '19), who holds it by two votes, whose bits before a lane's own are its
// place in the row (columns ascend); those lanes put column and value into the batch and move on.
#pragma once
#include "kernels/dcsr/dcsr_spmm_panel.cuh"

namespace shunt
{
namespace dcsr
{

constexpr int kStrip = SHUNT_DCSR_STRIP;
constexpr int kBuffer = 16;   // entries of a column in shared memory, a power of two
constexpr int kSteps = 4;     // rows between two looks at what columns need
constexpr int kRows = 32;     // segments of a batch
constexpr int kEntries = 320; // entries of a batch
constexpr unsigned kNoRow = ~0u;
static_assert(kStrip == 64, "two columns a lane");
// After a refill what the last two brought, 2 kSteps entries, may be under way; the steps until the
// next see kSteps + 2 entries of a column from its frontier on.
static_assert(3 * kSteps + 2 <= kBuffer, "no entry is looked at before it is here");

// A in CSC.
template <class T> struct csc_view {
  const void *offsets, *rows;
  const T *values;
  int64_t row_count, columns;
  int64_t chunk; // entries of a strip that a block is given, about
  int base;
};

template <class T> struct batch {
  int segments, first; // 0: the stream has ended; number of its first segment
  unsigned row[kRows];
  int begin[kRows + 1];
  T value[kEntries];
  uint8_t column[kEntries];
};

// What a producer and its consumer share.
template <class T, class I> struct alignas(16) pair_memory {
  T value[kBuffer * kStrip];
  I row[kBuffer * kStrip];
  batch<T> batches[2];
};

struct column_state {
  int frontier, boundary;
  int fetched;        // entries before it are in shared memory, or on their way
  unsigned row, next; // at the frontier and behind it; kNoRow at the end
};

template <class T, class I> struct producer {
  const csc_view<T> &a;
  pair_memory<T, I> &memory;
  column_state column[2]; // t and t + 32
  int next;               // number of the next segment

  // Part `part` of `parts` of a strip.
  __device__ __forceinline__ void start(int64_t strip, int part, int parts);
  // The next batch.
  __device__ __forceinline__ void fill(batch<T> &to);

  __device__ __forceinline__ int lane() const { return threadIdx.x % 32; }
  __device__ __forceinline__ int at(int side, int entry) const
  {
    return (entry & (kBuffer - 1)) * kStrip + side * 32 + lane();
  }
  // Rows that are not A's end their column: nothing is written beyond C.
  __device__ __forceinline__ unsigned row_at(int side, int entry) const
  {
    if (entry >= column[side].boundary) return kNoRow;
    const I row = memory.row[at(side, entry)] - static_cast<I>(a.base);
    return row >= 0 && row < a.row_count ? static_cast<unsigned>(row) : kNoRow;
  }
  // The row of an entry, in place.
  __device__ __forceinline__ int64_t stored_row(int entry) const
  {
    return static_cast<int64_t>(static_cast<const I *>(a.rows)[entry]) - a.base;
  }
  __device__ __forceinline__ void seek(int64_t row, int (&begin)[2], int (&end)[2]) const;
  __device__ __forceinline__ void cut(int part, int parts, int64_t strip_begin);
  template <int Most> __device__ __forceinline__ void refill();
  __device__ __forceinline__ int emit(batch<T> &to, int entries, unsigned row);
};

// begin: the first entry of [begin, end) whose row is at least `row`; both columns at once.
template <class T, class I>
__device__ __forceinline__ void producer<T, I>::seek(int64_t row, int (&begin)[2],
                                                     int (&end)[2]) const
{
  while (begin[0] < end[0] || begin[1] < end[1]) {
    int middle[2];
    bool below[2];
#pragma unroll
    for (int side = 0; side < 2; side++) {
      middle[side] = begin[side] + (end[side] - begin[side]) / 2;
      below[side] = begin[side] < end[side] && stored_row(middle[side]) < row;
    }
#pragma unroll
    for (int side = 0; side < 2; side++)
      if (below[side])
        begin[side] = middle[side] + 1;
      else
        end[side] = middle[side];
  }
}

// Leaves each column what is of the part.  Parts are cut at rows of the longest column, into equal
// shares of its entries.
template <class T, class I>
__device__ __forceinline__ void producer<T, I>::cut(int part, int parts, int64_t strip_begin)
{
  const bool second =
      column[1].boundary - column[1].frontier > column[0].boundary - column[0].frontier;
  const int mine = second ? column[1].frontier : column[0].frontier;
  const int length = (second ? column[1].boundary : column[0].boundary) - mine;
  const int most = __reduce_max_sync(kAll, length);
  const int from = __ffs(__ballot_sync(kAll, length == most)) - 1;
  const int first = __shfl_sync(kAll, mine, from);
  int edge[2][2]; // where the part begins and ends, of each column
#pragma unroll
  for (int which = 0; which < 2; which++) {
    const int64_t share = static_cast<int64_t>(most) * (part + which) / parts;
    int end[2] = {column[0].boundary, column[1].boundary};
#pragma unroll
    for (int side = 0; side < 2; side++)
      edge[which][side] = part + which == parts ? end[side] : column[side].frontier;
    if (part + which > 0 && part + which < parts)
      seek(stored_row(first + static_cast<int>(share)), edge[which], end);
  }
  unsigned before = 0;
#pragma unroll
  for (int side = 0; side < 2; side++) {
    before += static_cast<unsigned>(edge[0][side] - column[side].frontier);
    column[side].frontier = edge[0][side];
    column[side].boundary = max(edge[0][side], edge[1][side]);
  }
  next = static_cast<int>(strip_begin + __reduce_add_sync(kAll, before));
}

// Brings up to Most entries of each column, so that kBuffer of them are here or on their way.
template <class T, class I>
template <int Most>
__device__ __forceinline__ void producer<T, I>::refill()
{
#pragma unroll
  for (int side = 0; side < 2; side++) {
    column_state &c = column[side];
    const int until = min(c.frontier + kBuffer, c.boundary);
#pragma unroll
    for (int k = 0; k < Most; k++)
      if (c.fetched + k < until) {
        const int to = at(side, c.fetched + k);
        ptx::cp_async_word<sizeof(I)>(ptx::shared_address(memory.row + to),
                                      static_cast<const I *>(a.rows) + c.fetched + k, 1);
        ptx::cp_async_word<sizeof(T)>(ptx::shared_address(memory.value + to),
                                      a.values + c.fetched + k, 1);
      }
    c.fetched = max(c.fetched, min(c.fetched + Most, until));
  }
  ptx::cp_async_commit();
}

template <class T, class I>
__device__ __forceinline__ void producer<T, I>::start(int64_t strip, int part, int parts)
{
  const I *offsets = static_cast<const I *>(a.offsets);
  const int64_t first = strip * kStrip;
#pragma unroll
  for (int side = 0; side < 2; side++) {
    const int64_t k = min(first + side * 32 + lane(), a.columns - 1);
    const bool there = first + side * 32 + lane() < a.columns;
    column[side].frontier = static_cast<int>(offsets[k + !there] - a.base);
    column[side].boundary = static_cast<int>(offsets[k + 1] - a.base);
  }
  cut(part, parts, static_cast<int64_t>(offsets[first]) - a.base);
#pragma unroll
  for (int side = 0; side < 2; side++) column[side].fetched = column[side].frontier;
  refill<kBuffer>();
  ptx::cp_async_wait<0>();
#pragma unroll
  for (int side = 0; side < 2; side++) {
    column_state &c = column[side];
    c.row = row_at(side, c.frontier), c.next = row_at(side, c.frontier + 1);
  }
}

// Entries of `row`, one of each column that has it; only the first column's where one has two,
// which come before those of the next.  Returns the entries in the batch.
template <class T, class I>
__device__ __forceinline__ int producer<T, I>::emit(batch<T> &to, int entries, unsigned row)
{
  const bool again = (column[0].row == row && column[0].next == row) ||
                     (column[1].row == row && column[1].next == row);
  unsigned vote[2] = {__ballot_sync(kAll, column[0].row == row),
                      __ballot_sync(kAll, column[1].row == row)};
  if (__any_sync(kAll, again)) {
    vote[1] = vote[0] ? 0 : vote[1] & (0u - vote[1]);
    vote[0] &= 0u - vote[0];
  }
#pragma unroll
  for (int side = 0; side < 2; side++) {
    column_state &c = column[side];
    if (vote[side] >> lane() & 1) {
      const int place = entries + __popc(vote[side] & ((1u << lane()) - 1));
      to.column[place] = static_cast<uint8_t>(side * 32 + lane());
      to.value[place] = memory.value[at(side, c.frontier)];
      c.row = c.next;
      c.frontier++;
      c.next = row_at(side, c.frontier + 1);
    }
    entries += __popc(vote[side]);
  }
  return entries;
}

template <class T, class I> __device__ __forceinline__ void producer<T, I>::fill(batch<T> &to)
{
  int segments = 0, entries = 0;
  unsigned open = kNoRow; // row of the last segment; what a batch cuts is two
  bool more = true;
  while (more) {
#pragma unroll 1
    for (int step = 0; step < kSteps; step++) {
      const unsigned row = __reduce_min_sync(kAll, min(column[0].row, column[1].row));
      more = row != kNoRow && (row == open || segments < kRows) && entries + kStrip <= kEntries;
      if (!more) break;
      if (row != open) {
        if (lane() == 0) to.row[segments] = row, to.begin[segments] = entries;
        open = row;
        segments++;
      }
      entries = emit(to, entries, row);
    }
    refill<kSteps>();
    ptx::cp_async_wait<2>();
  }
  if (lane() == 0) to.segments = segments, to.first = next, to.begin[segments] = entries;
  next += segments;
}

} // namespace dcsr
} // namespace shunt
