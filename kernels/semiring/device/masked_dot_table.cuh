// masked_dot_table.cuh: a row in a hash table in shared memory, and a row searched by halving.
#pragma once
#include <cstdint>

namespace shunt
{
namespace masked
{

// How a part of M's entries is computed: by a warp, or by a block.
template <int Threads> struct shape {
  static constexpr int kPairs = Threads == 32 ? 64 : 128;   // entries of M, at most
  static constexpr int kChunk = Threads == 32 ? 128 : 2048; // of a row of A at a time
  static constexpr int kSlots = 2 * kChunk;
};

constexpr unsigned kNone = 0xffffffffu; // no column

// Slots: 4 for each of n elements, 2 at least; the table is the first 2^bits of `keys`.
template <int Threads> struct table {
  unsigned keys[shape<Threads>::kSlots];
  unsigned short places[shape<Threads>::kSlots]; // which of the elements it is
};

template <int Threads> __device__ __forceinline__ void sync_team()
{
  if (Threads == 32)
    __syncwarp();
  else
    __syncthreads();
}

template <int Threads> __device__ __forceinline__ int bits_for(int n)
{
  const int wanted = 32 - __clz(4 * n - 1);
  const int most = 31 - __clz(shape<Threads>::kSlots);
  return wanted < most ? wanted : most;
}

__device__ __forceinline__ unsigned slot_of(unsigned key, int bits)
{
  return (key * 0x9E3779B1u) >> (32 - bits);
}

// Columns [n] into the table; all threads of the team.
template <int Threads>
__device__ void fill_table(table<Threads> &t, const int *columns, int n, int bits, int thread)
{
  sync_team<Threads>();
  for (int h = thread; h < 1 << bits; h += Threads) t.keys[h] = kNone;
  sync_team<Threads>();
  for (int p = thread; p < n; p += Threads) {
    const unsigned key = (unsigned)columns[p];
    unsigned h = slot_of(key, bits);
    while (atomicCAS(&t.keys[h], kNone, key) != kNone) h = (h + 1) & ((1u << bits) - 1);
    t.places[h] = (unsigned short)p;
  }
  sync_team<Threads>();
}

// Where the column is in the table; negative: it is not there.
template <int Threads>
__device__ __forceinline__ int find_in_table(const table<Threads> &t, unsigned key, int bits)
{
  unsigned h = slot_of(key, bits);
  for (unsigned there; (there = t.keys[h]) != key; h = (h + 1) & ((1u << bits) - 1))
    if (there == kNone) return -1;
  return (int)h;
}

// The first of columns begin .. end that is not less than `column`, or end.
__device__ __forceinline__ int lower_bound(const int *columns, int begin, int end, int column)
{
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (columns[middle] < column)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// Which of them is `column`; negative: none.
__device__ __forceinline__ int find_in_row(const int *columns, int begin, int end, int column)
{
  const int p = lower_bound(columns, begin, end, column);
  return p < end && columns[p] == column ? p : -1;
}

} // namespace masked
} // namespace shunt
