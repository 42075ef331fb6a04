// masked_dot_wide.cuh: terms of a part counted by a block: long rows of A
// (kernels/semiring/device/masked_dot_cuda.h).
//
//   sort       a thread for each pair: to the set of tags, to a search, or to (j,i)
//   search     warps: the shorter row's elements sought in the longer one
//   fill       2^bits columns of row i at a time; a thread for each pair: how far its row j goes
//   scan       whoever is free takes the next pairs: a warp one long row, or four short ones
//   store      a thread for each pair: to its own place, and to (j,i)'s
#pragma once
#include "kernels/semiring/device/masked_dot_rows.cuh"
#include "kernels/semiring/device/masked_dot_tags.cuh"

namespace shunt
{
namespace masked
{

constexpr int kTeam = 512;          // threads of a block, and pairs of a part
constexpr int kUnroll = 4;          // loads of a lane in flight
constexpr int kShort = 8 * kUnroll; // elements that 8 lanes read at once

struct counting {
  int from[kTeam], to[kTeam]; // of row j
  unsigned met[kTeam];
  unsigned short longs[kTeam], shorts[kTeam];
  unsigned long_ones, short_ones, long_next, short_next;
};

// Columns of the row in the set, and of those that are scanned: A's and B's, or turned.
struct sides {
  const int *in_set, *scanned;
  hashing by;
  int most_bits;
};

struct my_pair {
  int to, mirror;
  way what;
};

__device__ __forceinline__ void start_lists(counting &s)
{
  if (threadIdx.x == 0) s.long_ones = s.short_ones = s.long_next = s.short_next = 0;
}

// Entry e = (i,j) of M.
__device__ __forceinline__ my_pair sort_wide(const args &x, counting &s, int i, int e)
{
  const int q = threadIdx.x, j = x.m.columns[e];
  my_pair p = {x.b.offsets[j + 1], -1, kLeft};
  const int from = x.b.offsets[j], a = length_of(x.a, i), b = p.to - from;
  const int shorter = a < b ? a : b;
  s.from[q] = from, s.to[q] = p.to, s.met[q] = 0;
  if (b == 0 || is_turned(x, a, b)) return p;
  if (x.one_matrix && i != j && shorter >= kLeastShared) {
    const bool is_later = b > a || (b == a && j > i);
    p.mirror = find_in_row(x.m.columns, x.m.offsets[j], x.m.offsets[j + 1], i);
    if (is_later && p.mirror >= 0) return p;
    if (is_later) p.mirror = -1;
  }
  const int longer = a < b ? b : a;
  p.what = b <= (long long)shorter * (33 - __clz(longer)) * kStep ? kScan : kSearch;
  if (p.what == kSearch) s.longs[atomicAdd(&s.long_ones, 1u)] = (unsigned short)q;
  return p;
}

// Entry `pair` of the turned ones: row j of B is the one in the set.
__device__ __forceinline__ my_pair sort_turned(const args &x, counting &s, turned_pair pair)
{
  const int q = threadIdx.x, from = x.a.offsets[pair.row], to = x.a.offsets[pair.row + 1];
  s.from[q] = from, s.to[q] = to, s.met[q] = 0;
  return my_pair{to, -1, kScan};
}

__device__ void search_wide(const args &x, counting &s, int i)
{
  const int a_begin = x.a.offsets[i], a = x.a.offsets[i + 1] - a_begin, lane = threadIdx.x % 32;
  for (unsigned at = threadIdx.x / 32; at < s.long_ones; at += kTeam / 32) {
    const int q = s.longs[at], b_begin = s.from[q], b = s.to[q] - b_begin;
    const bool in_b = a < b;
    unsigned met = 0;
    for (int h = lane; h < (in_b ? a : b); h += 32)
      met += in_b ? find_in_row(x.b.columns, b_begin, b_begin + b, x.a.columns[a_begin + h]) >= 0
                  : find_in_row(x.a.columns, a_begin, a_begin + a, x.b.columns[b_begin + h]) >= 0;
    for (int step = 16; step > 0; step /= 2) met += __shfl_xor_sync(0xffffffffu, met, step);
    if (lane == 0) s.met[q] = met;
  }
}

// How many of columns first, first + Lanes, .. are in the set, of kUnroll; `to`: where row j ends.
template <int Lanes>
__device__ __forceinline__ unsigned count_some(const hashing &by, const int *columns,
                                               const uint2 *buckets, int bits, int first, int to)
{
  unsigned column[kUnroll], home[kUnroll], tag[kUnroll], met = 0;
  uint2 bucket[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; u++)
    column[u] = first + u * Lanes < to ? (unsigned)__ldg(columns + first + u * Lanes) : 0;
#pragma unroll
  for (int u = 0; u < kUnroll; u++) {
    home[u] = home_of(by, column[u], bits, &tag[u]);
    bucket[u] = buckets[home[u]];
  }
#pragma unroll
  for (int u = 0; u < kUnroll; u++) {
    if (first + u * Lanes >= to) continue;
    if (match(bucket[u], tag[u]))
      met++;
    else if (is_full(bucket[u]))
      met += is_further(buckets, bits, home[u], tag[u]);
  }
  return met;
}

// The pairs of a list, each by so many lanes.
template <int Lanes>
__device__ __forceinline__ void
scan_list(const hashing &by, const int *columns, counting &s, const uint2 *buckets, int bits,
          const unsigned short *list, unsigned count, unsigned *next)
{
  constexpr int kGroups = 32 / Lanes;
  const int lane = threadIdx.x % 32;
  for (;;) {
    unsigned at = 0;
    if (lane == 0) at = atomicAdd(next, (unsigned)kGroups);
    at = __shfl_sync(0xffffffffu, at, 0);
    if (at >= count) return;
    at += lane / Lanes;
    const bool mine = at < count;
    const int q = mine ? list[at] : 0, to = mine ? s.to[q] : 0;
    unsigned met = 0;
    for (int r = mine ? s.from[q] + lane % Lanes : 0; r < to; r += Lanes * kUnroll)
      met += count_some<Lanes>(by, columns, buckets, bits, r, to);
    for (int step = Lanes / 2; step > 0; step /= 2) met += __shfl_xor_sync(0xffffffffu, met, step);
    if (mine && lane % Lanes == 0) s.met[q] += met;
  }
}

// What no bucket had room for: each element of row j sought in row i.
__device__ void scan_by_search(const sides &x, counting &s, int begin, int end)
{
  const int lane = threadIdx.x % 32;
  for (int q = threadIdx.x / 32; q < kTeam; q += kTeam / 32) {
    unsigned met = 0;
    for (int r = s.from[q] + lane; r < s.to[q]; r += 32)
      met += find_in_row(x.in_set, begin, end, x.scanned[r]) >= 0;
    for (int step = 16; step > 0; step /= 2) met += __shfl_xor_sync(0xffffffffu, met, step);
    if (lane == 0) s.met[q] += met;
  }
}

// The thread's pair: as far as columns up to `last`, or all of it.
__device__ __forceinline__ void list_pair(const sides &x, counting &s, const my_pair &p, int last)
{
  const int q = threadIdx.x;
  if (p.what != kScan) {
    s.to[q] = s.from[q];
    return;
  }
  const int from = s.from[q], to = last < 0 ? p.to : lower_bound(x.scanned, from, p.to, last + 1);
  s.to[q] = to;
  if (to - from > kShort)
    s.longs[atomicAdd(&s.long_ones, 1u)] = (unsigned short)q;
  else if (to > from)
    s.shorts[atomicAdd(&s.short_ones, 1u)] = (unsigned short)q;
}

// Columns begin .. begin + n - 1 of row i.
__device__ void scan_chunk(const sides &x, counting &s, uint2 *buckets, const my_pair &p, int begin,
                           int n, int last)
{
  const int bits = bits_for_tags(x.by, n, x.most_bits);
  for (int h = threadIdx.x; h < 1 << bits; h += kTeam) buckets[h] = make_uint2(0, 0);
  start_lists(s);
  __syncthreads();
  bool placed = true;
  for (int h = threadIdx.x; h < n; h += kTeam)
    placed = add_tag(x.by, buckets, bits, (unsigned)x.in_set[begin + h]) && placed;
  list_pair(x, s, p, last);
  if (__syncthreads_or(!placed))
    scan_by_search(x, s, begin, begin + n);
  else {
    scan_list<32>(x.by, x.scanned, s, buckets, bits, s.longs, s.long_ones, &s.long_next);
    scan_list<8>(x.by, x.scanned, s, buckets, bits, s.shorts, s.short_ones, &s.short_next);
  }
  __syncthreads();
  s.from[threadIdx.x] = s.to[threadIdx.x];
}

// The chunks of entries begin .. end - 1 of the row in the set.
__device__ void scan_chunks(const sides &x, counting &s, uint2 *buckets, const my_pair &p,
                            int begin, int end)
{
  const int chunk = 1 << x.most_bits;
  for (; begin < end; begin += chunk) {
    const int n = end - begin < chunk ? end - begin : chunk;
    scan_chunk(x, s, buckets, p, begin, n, begin + n < end ? x.in_set[begin + n - 1] : -1);
  }
  __syncthreads();
}

__device__ void count_part(const args &x, counting &s, uint2 *buckets, part of)
{
  const int e = of.begin + (int)threadIdx.x;
  my_pair mine = {0, -1, kLeft};
  start_lists(s);
  __syncthreads();
  if (e < x.m.offsets[of.row + 1])
    mine = sort_wide(x, s, of.row, e);
  else
    s.from[threadIdx.x] = s.to[threadIdx.x] = 0, s.met[threadIdx.x] = 0;
  const bool any = __syncthreads_or(mine.what == kScan);
  if (s.long_ones > 0) search_wide(x, s, of.row);
  __syncthreads();
  if (any) {
    const sides a_in_set = {x.a.columns, x.b.columns, x.by, x.most_bits};
    scan_chunks(a_in_set, s, buckets, mine, x.a.offsets[of.row], x.a.offsets[of.row + 1]);
  }
  if (mine.what == kLeft) return;
  put<uint32_t, false>(x, e, s.met[threadIdx.x], 0);
  if (mine.mirror >= 0) put<uint32_t, false>(x, mine.mirror, s.met[threadIdx.x], 0);
}

__device__ void count_turned(const args &x, counting &s, uint2 *buckets, part of)
{
  const unsigned at = (unsigned)of.begin + threadIdx.x, end = x.turned_end[of.row];
  my_pair mine = {0, -1, kLeft};
  turned_pair pair = {0, 0};
  s.from[threadIdx.x] = s.to[threadIdx.x] = 0;
  if (at < end) pair = x.turned[at], mine = sort_turned(x, s, pair);
  const sides b_in_set = {x.b.columns, x.a.columns, x.by, x.most_bits};
  scan_chunks(b_in_set, s, buckets, mine, x.b.offsets[of.row], x.b.offsets[of.row + 1]);
  if (mine.what == kScan) put<uint32_t, false>(x, pair.at, s.met[threadIdx.x], 0);
}

// Which: kWide or kTurned.
template <kind Which, int Blocks>
__global__ void __launch_bounds__(kTeam, Blocks) count_parts(args x)
{
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ counting mine[1];
  __shared__ unsigned next[1];
  uint2 *buckets = reinterpret_cast<uint2 *>(shared);
  for (const unsigned all = x.listed[Which];;) {
    if (threadIdx.x == 0) next[0] = atomicAdd(&x.taken[Which], 1u);
    __syncthreads();
    const unsigned at = next[0];
    __syncthreads();
    if (at >= all) return;
    if (Which == kWide)
      count_part(x, mine[0], buckets, *part_at(x, kWide, at));
    else
      count_turned(x, mine[0], buckets, *part_at(x, kTurned, at));
  }
}

} // namespace masked
} // namespace shunt
