// csr_transpose_order.cuh: the entries of a row of A^T in the order of their places, by how many
// there are:
//
//   up to kRanked      a warp: an entry's rank is how many places are less than its own
//   up to kSorted      a block: a bitonic sort in shared memory
//   more               a block: such sorts of parts that overlap, or a walk through all columns of A,
//                      which finds them in order
//
// In memory at first are a row's places in any order, in `places` or, where that is NULL, in
// `columns`; each is read before anything is written over it.
#pragma once
#include "conv/csr/csr_conv.h"

namespace shunt
{
namespace transposing
{

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kBatch = 8;            // entries that a thread has under way
constexpr int kRanked = 32 * kBatch; // entries of a row
#ifdef SHUNT_EMULATED
constexpr int kSorted = 1024; // where the matrices are small
#else
constexpr int kSorted = 8192;
#endif
constexpr int32_t kNone = INT32_MAX; // behind all places
constexpr unsigned kAll = 0xffffffffu;

struct job {
  const void *offsets, *columns, *values; // A
  int64_t rows, cols, nnz;
  int base, value_size;
  int rows_a_piece; // of A^T
  bool conjugate;
  struct shunt_transposed to;
  // Only where these do not add up to what is expected; or NULL.
  const struct shunt_fingerprint *parts, *expected;
  int part_count;
  uint32_t *changed;
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

template <class I> __device__ __forceinline__ int64_t begin_of(const job &j, int64_t row)
{
  return from_base(static_cast<const I *>(j.offsets)[row], j.base);
}

template <class I> __device__ __forceinline__ int64_t first_entry(const job &j)
{
  const int64_t first = begin_of<I>(j, 0);
  return first < 0 ? 0 : first;
}

template <class I> __device__ __forceinline__ int64_t end_of_entries(const job &j)
{
  const int64_t end = begin_of<I>(j, j.rows);
  return end < j.nnz ? end : j.nnz;
}

// Of the entry at `place`; -1: none of A's.
template <class I> __device__ __forceinline__ int column_at(const job &j, int64_t place)
{
  const int64_t c = from_base(static_cast<const I *>(j.columns)[place], j.base);
  return c >= 0 && c < j.cols ? static_cast<int>(c) : -1;
}

// The last rows that begin at these places or before; all looked for at once, as each step of a
// search waits for memory.
template <class I, int Count>
__device__ __forceinline__ void rows_of(const job &j, const int32_t (&place)[Count],
                                        int (&row)[Count])
{
#pragma unroll
  for (int k = 0; k < Count; k++) row[k] = 0;
  for (int among = static_cast<int>(j.rows); among > 1; among -= among / 2)
#pragma unroll
    for (int k = 0; k < Count; k++) {
      const int middle = row[k] + among / 2;
      if (begin_of<I>(j, middle) <= place[k]) row[k] = middle;
    }
}

__device__ __forceinline__ uint64_t conjugated(uint64_t x, bool conjugate)
{
  return conjugate ? x ^ 0x8000000000000000u : x;
}
__device__ __forceinline__ ulonglong2 conjugated(ulonglong2 x, bool conjugate)
{
  if (conjugate) x.y ^= 0x8000000000000000u;
  return x;
}
template <class V> __device__ __forceinline__ V conjugated(V x, bool)
{
  return x;
}

template <class V>
__device__ __forceinline__ void copy_as(const job &j, int64_t from, int64_t to, bool conjugate)
{
  static_cast<V *>(j.to.values)[to] = conjugated(static_cast<const V *>(j.values)[from], conjugate);
}

__device__ __forceinline__ void copy_value(const job &j, int64_t from, int64_t to)
{
  switch (j.value_size) {
  case 1: copy_as<uint8_t>(j, from, to, false); break;
  case 2: copy_as<uint16_t>(j, from, to, false); break;
  case 4: copy_as<uint32_t>(j, from, to, false); break;
  case 8: copy_as<uint64_t>(j, from, to, j.conjugate); break;
  default: copy_as<ulonglong2>(j, from, to, j.conjugate); break;
  }
}

// Entry t of A^T is that at `place`, of `row`.
__device__ __forceinline__ void put_of(const job &j, int64_t t, int32_t place, int row)
{
  if (j.to.places) j.to.places[t] = place;
  j.to.columns[t] = row;
  if (j.to.values) copy_value(j, place, t);
}
template <class I> __device__ __forceinline__ void put(const job &j, int64_t t, int32_t place)
{
  const int32_t places[1] = {place};
  int row[1];
  rows_of<I>(j, places, row);
  put_of(j, t, place, row[0]);
}

// Rows of A^T that a warp puts in order at once: rows[k] begins at begin[k] and has count[k]
// entries, of which each lane takes Mine.  Passed by are those with more, and those that Mine / 2
// are enough for.
template <class I, int Count, int Mine>
__device__ __forceinline__ void order_by_rank(const job &j, const int (&begin)[Count],
                                              const int (&count)[Count])
{
  const int lane = threadIdx.x % 32;
  const int32_t *in = j.to.places ? j.to.places : j.to.columns;
  int32_t place[Count * Mine];
  int row[Count * Mine];

#pragma unroll
  for (int e = 0; e < Count * Mine; e++) {
    const int at = e % Mine * 32 + lane, entries = count[e / Mine];
    place[e] = at < entries && entries <= 32 * Mine ? in[begin[e / Mine] + at] : kNone;
  }
  rows_of<I>(j, place, row);
#pragma unroll
  for (int k = 0; k < Count; k++) {
    if (count[k] <= Mine / 2 * 32 || count[k] > Mine * 32) continue;
    int rank[Mine] = {};
#pragma unroll
    for (int other = 0; other < Mine; other++)
      for (int l = 0; l < 32 && other * 32 + l < count[k]; l++) {
        const int32_t before = __shfl_sync(kAll, place[k * Mine + other], l);
#pragma unroll
        for (int i = 0; i < Mine; i++) rank[i] += before < place[k * Mine + i];
      }
#pragma unroll
    for (int i = 0; i < Mine; i++)
      if (i * 32 + lane < count[k])
        put_of(j, begin[k] + rank[i], place[k * Mine + i], row[k * Mine + i]);
  }
}

// Steps of one merge of the sort: pairs `apart` from each other, in runs of `run` that ascend and
// descend in turn.
__device__ __forceinline__ void exchange(int32_t *sorted, int room, int run, int apart)
{
  for (int i = threadIdx.x; i < room / 2; i += kThreads) {
    const int low = 2 * i - (i & (apart - 1)), high = low + apart;
    const int32_t x = sorted[low], y = sorted[high];
    if ((x > y) == ((low & run) == 0)) sorted[low] = y, sorted[high] = x;
  }
  __syncthreads();
}

// Leaves in[0] .. in[count - 1], ascending, in `sorted`.
__device__ __forceinline__ void sort(const int32_t *in, int count, int32_t *sorted)
{
  int room = 2 * kRanked;

  while (room < count) room *= 2;
  for (int i = threadIdx.x; i < room; i += kThreads) sorted[i] = i < count ? in[i] : kNone;
  __syncthreads();
  for (int run = 2; run <= room; run *= 2)
    for (int apart = run / 2; apart > 0; apart /= 2) exchange(sorted, room, run, apart);
}

template <class I>
__device__ __forceinline__ void order_by_sort(const job &j, int begin, int count, int32_t *sorted)
{
  sort((j.to.places ? j.to.places : j.to.columns) + begin, count, sorted);
  for (int i = threadIdx.x; i < count; i += kThreads) put<I>(j, begin + i, sorted[i]);
  __syncthreads();
}

// Parts of which a sort takes two.  Neighbours are sorted together, in turns, until each entry had
// the time to come from one end to the other:
//
//   turn 0, 2 ..   | part 0   part 1 | part 2   part 3 | part 4 |
//   turn 1, 3 ..   | part 0 | part 1   part 2 | part 3   part 4 |
__device__ __forceinline__ int parts_of(int count)
{
  return (count + kSorted / 2 - 1) / (kSorted / 2);
}

template <class I>
__device__ __forceinline__ void order_by_sorts(const job &j, int begin, int count, int32_t *sorted)
{
  int32_t *all = (j.to.places ? j.to.places : j.to.columns) + begin;

  for (int turn = 0; turn < parts_of(count); turn++)
    for (int first = turn % 2 * (kSorted / 2); first < count; first += kSorted) {
      const int size = count - first < kSorted ? count - first : kSorted;
      sort(all + first, size, sorted);
      for (int i = threadIdx.x; i < size; i += kThreads) all[first + i] = sorted[i];
      __syncthreads();
    }
  for (int i = threadIdx.x; i < count; i += kThreads) put<I>(j, begin + i, all[i]);
  __syncthreads();
}

// Sorts grow as the square of the parts, walks as A: a sort takes as long as one through 2 kSorted
// entries.
__device__ __forceinline__ bool walk_pays(const job &j, int count)
{
  const int64_t parts = parts_of(count);
  return parts * parts * (2 * kSorted) > j.nnz;
}

// found: [kBatch][kWarps].  A round is kBatch times kThreads entries.
template <class I>
__device__ __forceinline__ void order_by_walk(const job &j, int row, int begin, int *found)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t end = end_of_entries<I>(j);

  for (int64_t p0 = first_entry<I>(j); p0 < end; p0 += kBatch * kThreads) {
    unsigned hits[kBatch];
    bool any = false;
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      const int64_t p = p0 + k * kThreads + threadIdx.x;
      hits[k] = __ballot_sync(kAll, p < end && column_at<I>(j, p) == row);
      any = any || hits[k];
    }
    if (!__syncthreads_or(any)) continue;
    if (lane == 0)
      for (int k = 0; k < kBatch; k++) found[k * kWarps + warp] = __popc(hits[k]);
    __syncthreads();
    int before = begin; // my warp's entries of step k come behind so many
#pragma unroll
    for (int k = 0; k < kBatch; k++)
      for (int w = 0; w < kWarps; w++) {
        if (w == warp && (hits[k] >> lane & 1))
          put<I>(j, before + __popc(hits[k] & ((1u << lane) - 1)),
                 static_cast<int32_t>(p0 + k * kThreads + threadIdx.x));
        before += found[k * kWarps + w];
      }
    begin = before;
    __syncthreads();
  }
}

} // namespace transposing
} // namespace shunt
