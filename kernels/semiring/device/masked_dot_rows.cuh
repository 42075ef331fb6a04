// masked_dot_rows.cuh: the dot products of a part, by a warp or a block
// (kernels/semiring/device/masked_dot_cuda.h).
//
//   sort_pairs    a thread for each pair: to the table, to a search, or to (j,i)
//   search        groups of lanes: the shorter row's elements sought in the longer one
//   scan          groups of lanes, once for each chunk of row i: row j looked up in the table
//   store         a thread for each pair: to its own place, and to (j,i)'s
#pragma once
#include "kernels/semiring/device/masked_dot_parts.cuh"
#include "kernels/semiring/semiring_kernels.h"

namespace shunt
{
namespace masked
{

constexpr int kLeastShared = 8; // entries of the shorter row, to be worth the search for (j,i)

enum way : unsigned char { kLeft, kScan, kSearch }; // kLeft: nothing to do here

template <class T, int Threads> struct room {
  table<Threads> t;
  T sum[shape<Threads>::kPairs];
  int from[shape<Threads>::kPairs], to[shape<Threads>::kPairs]; // of row j
  int mirror[shape<Threads>::kPairs];                           // the place of (j,i); negative
  unsigned met[shape<Threads>::kPairs];
  unsigned scans, elements, searches;
  unsigned char ways[shape<Threads>::kPairs];
};

// x + none is x, also of x = -0.0
template <class T> __device__ __forceinline__ T none()
{
  return T(0);
}
template <> __device__ __forceinline__ float none<float>()
{
  return -0.0f;
}
template <> __device__ __forceinline__ double none<double>()
{
  return -0.0;
}

template <class T> __device__ __forceinline__ T value_at(const rows_view &x, int p)
{
  return static_cast<const T *>(x.values)[x.iso ? 0 : p];
}

// A's entry p and B's entry q.
template <class T> __device__ __forceinline__ T term(const args &x, int p, int q)
{
  if (x.multiplier == SHUNT_FIRST) return value_at<T>(x.a, p);
  if (x.multiplier == SHUNT_SECOND) return value_at<T>(x.b, q);
  return value_at<T>(x.a, p) * value_at<T>(x.b, q);
}

__device__ __forceinline__ bool scan_is_cheaper(int a, int b)
{
  const int chunks = (a + shape<256>::kChunk - 1) / shape<256>::kChunk;
  const long long scan = b + (chunks > 1 ? (long long)chunks * kVisit : 0);
  const int shorter = a < b ? a : b, longer = a < b ? b : a;
  return scan <= (long long)shorter * (33 - __clz(longer)) * kStep;
}

// Entry e = (i,j) of M as pair q of the room.
template <class T, int Threads>
__device__ void sort_pair(const args &x, room<T, Threads> &s, int i, int e, int q)
{
  const int j = x.m.columns[e], from = x.b.offsets[j], to = x.b.offsets[j + 1];
  const int a = length_of(x.a, i), b = to - from, shorter = a < b ? a : b;
  int mirror = -1;
  bool left = b == 0 || is_turned(x, a, b);
  if (x.one_matrix && i != j && shorter >= kLeastShared) {
    const bool is_later = b > a || (b == a && j > i);
    mirror = find_in_row(x.m.columns, x.m.offsets[j], x.m.offsets[j + 1], i);
    if (is_later) left = mirror >= 0, mirror = -1;
  }
  s.from[q] = from, s.to[q] = to, s.mirror[q] = mirror;
  s.met[q] = 0, s.sum[q] = none<T>();
  s.ways[q] = left ? kLeft : scan_is_cheaper(a, b) ? kScan : kSearch;
  if (s.ways[q] == kScan) atomicAdd(&s.scans, 1u), atomicAdd(&s.elements, (unsigned)b);
  if (s.ways[q] == kSearch) atomicAdd(&s.searches, 1u);
}

// A power of two of lanes, for rows of about so many elements: each is to have some.
__device__ __forceinline__ int lanes_for(unsigned elements)
{
  return elements >= 64 ? 32 : elements < 4 ? 1 : 1 << (30 - __clz((int)elements));
}

// What the lanes of each group found, added to its pair; all lanes of the warp.
template <class T, int Threads>
__device__ __forceinline__ void add_up(room<T, Threads> &s, int q, int lanes, bool first,
                                       unsigned met, T sum)
{
  for (int step = lanes / 2; step > 0; step /= 2) {
    met += __shfl_xor_sync(0xffffffffu, met, step);
    sum = sum + __shfl_xor_sync(0xffffffffu, sum, step);
  }
  if (first) s.met[q] += met, s.sum[q] = s.sum[q] + sum;
  __syncwarp();
}

template <class T, bool Values, int Threads>
__device__ void search(const args &x, room<T, Threads> &s, int i, int pairs, int thread)
{
  const int a_begin = x.a.offsets[i], a_end = x.a.offsets[i + 1], a = a_end - a_begin;
  const int lanes = lanes_for((unsigned)a), groups = Threads / lanes, lane = thread % lanes;
  for (int first = 0; first < pairs; first += groups) {
    const int q = first + thread / lanes;
    const bool mine = q < pairs && s.ways[q] == kSearch;
    unsigned met = 0;
    T sum = none<T>();
    if (mine) {
      const int b_begin = s.from[q], b_end = s.to[q], b = b_end - b_begin;
      const int n = a < b ? a : b;
      for (int h = lane; h < n; h += lanes) {
        const int p = a < b ? a_begin + h
                            : find_in_row(x.a.columns, a_begin, a_end, x.b.columns[b_begin + h]);
        const int r =
            a < b ? find_in_row(x.b.columns, b_begin, b_end, x.a.columns[p]) : b_begin + h;
        if (p < 0 || r < 0) continue;
        met++;
        if (Values) sum = sum + term<T>(x, p, r);
      }
    }
    add_up(s, q, lanes, mine && lane == 0, met, sum);
  }
}

// The rows j against row i's entries `begin`, .. which are in the table; `last`: its last column
// where there are more.
template <class T, bool Values, int Threads>
__device__ void scan(const args &x, room<T, Threads> &s, int pairs, int begin, int bits, int last,
                     int lanes, int thread)
{
  const int groups = Threads / lanes, lane = thread % lanes;
  for (int first = 0; first < pairs; first += groups) {
    const int q = first + thread / lanes;
    const bool mine = q < pairs && s.ways[q] == kScan;
    unsigned met = 0;
    T sum = none<T>();
    int to = 0;
    if (mine) {
      const int from = s.from[q];
      to = last < 0 ? s.to[q] : lower_bound(x.b.columns, from, s.to[q], last + 1);
      for (int r = from + lane; r < to; r += lanes) {
        const int h = find_in_table(s.t, (unsigned)x.b.columns[r], bits);
        if (h < 0) continue;
        met++;
        if (Values) sum = sum + term<T>(x, begin + s.t.places[h], r);
      }
    }
    add_up(s, q, lanes, mine && lane == 0, met, sum);
    if (mine && lane == 0) s.from[q] = to;
  }
}

template <class T, bool Values, int Threads>
__device__ void scan_all(const args &x, room<T, Threads> &s, int i, int pairs, int thread)
{
  constexpr int kChunk = shape<Threads>::kChunk;
  const int end = x.a.offsets[i + 1];
  const int lanes = lanes_for(s.elements / s.scans);
  for (int begin = x.a.offsets[i]; begin < end; begin += kChunk) {
    const int n = end - begin < kChunk ? end - begin : kChunk, bits = bits_for<Threads>(n);
    fill_table(s.t, x.a.columns + begin, n, bits, thread);
    const int last = begin + n < end ? x.a.columns[begin + n - 1] : -1;
    scan<T, Values, Threads>(x, s, pairs, begin, bits, last, lanes, thread);
  }
}

template <class T, bool Values>
__device__ __forceinline__ void put(const args &x, int e, unsigned met, T sum)
{
  x.counts[e] = met;
  if (Values) static_cast<T *>(x.values)[e] = sum;
}

template <class T, bool Values, int Threads>
__device__ void compute_part(const args &x, room<T, Threads> &s, part of, int thread)
{
  constexpr int kPairs = shape<Threads>::kPairs;
  const int left = x.m.offsets[of.row + 1] - of.begin, pairs = left < kPairs ? left : kPairs;
  if (thread == 0) s.scans = s.elements = s.searches = 0;
  sync_team<Threads>();
  for (int q = thread; q < pairs; q += Threads) sort_pair(x, s, of.row, of.begin + q, q);
  sync_team<Threads>();
  if (s.searches > 0) search<T, Values, Threads>(x, s, of.row, pairs, thread);
  if (s.scans > 0) scan_all<T, Values, Threads>(x, s, of.row, pairs, thread);
  sync_team<Threads>();
  for (int q = thread; q < pairs; q += Threads) {
    if (s.ways[q] == kLeft) continue;
    put<T, Values>(x, of.begin + q, s.met[q], s.sum[q]);
    if (s.mirror[q] >= 0) put<T, Values>(x, s.mirror[q], s.met[q], s.sum[q]);
  }
  sync_team<Threads>();
}

template <class T, bool Values> __global__ void __launch_bounds__(256) narrow_parts(args x)
{
  constexpr unsigned kTake = 4; // parts at a time
  using one = room<T, 32>;
  __shared__ one rooms[8];
  const int lane = threadIdx.x % 32;
  one &mine = rooms[threadIdx.x / 32];
  for (const unsigned all = x.listed[kNarrow];;) {
    unsigned at = 0;
    if (lane == 0) at = atomicAdd(&x.taken[kNarrow], kTake);
    at = __shfl_sync(0xffffffffu, at, 0);
    if (at >= all) return;
    for (unsigned p = at; p < at + kTake && p < all; p++)
      compute_part<T, Values, 32>(x, mine, *part_at(x, kNarrow, p), lane);
  }
}

template <class T, bool Values> __global__ void __launch_bounds__(256) wide_parts(args x)
{
  using one = room<T, 256>;
  __shared__ one mine[1];
  __shared__ unsigned next[1];
  for (const unsigned all = x.listed[kWide];;) {
    if (threadIdx.x == 0) next[0] = atomicAdd(&x.taken[kWide], 1u);
    __syncthreads();
    const unsigned at = next[0];
    __syncthreads();
    if (at >= all) return;
    compute_part<T, Values, 256>(x, mine[0], *part_at(x, kWide, at), (int)threadIdx.x);
  }
}

} // namespace masked
} // namespace shunt
