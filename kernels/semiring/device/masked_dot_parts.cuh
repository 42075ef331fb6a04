// masked_dot_parts.cuh: parts of M's entries, listed for warps and for blocks.
//
//   parts   | for warps -->              <-- for blocks |      in any order
//
// Whoever is free takes the next ones of its kind.
#pragma once
#include "kernels/semiring/device/masked_dot_table.cuh"
#include "kernels/semiring/device/masked_dot_tags.cuh"
#include "kernels/semiring/device/masked_warp.cuh"

namespace shunt
{
namespace masked
{

// Costs in elements of a row that is scanned: a step of a search, and a pair in a further chunk.
constexpr int kStep = 4, kVisit = 32;

struct rows_view {
  const int *offsets, *columns;
  const void *values;
  bool iso;
};

struct part {
  int row, begin; // the first of M's entries
};

enum kind { kNarrow, kWide, kTurned, kKinds };

// Entry `at` of M, which is in row `row`.
struct turned_pair {
  int row, at;
};

struct args {
  rows_view m, a, b;
  int rows, b_rows, multiplier;
  int wide_pairs; // of a part for a block, at most
  int most_bits;  // 2^most_bits buckets in shared memory, or 0: terms are counted without
  hashing by;
  bool one_matrix; // and (x) commutes: entries may be left to (j,i)
  part *parts;
  int most_parts;
  bool turning;         // pairs whose row of B is the longer one are computed by it
  turned_pair *turned;  // [m.nnz], those of a row of B beside each other
  unsigned *turned_end; // [b.rows]: behind its last
  unsigned *turned_count;
  part *turned_parts;
  unsigned *listed, *taken; // [kKinds] each
  uint32_t *counts;
  void *values;
};

__device__ __forceinline__ int length_of(const rows_view &x, int row)
{
  return x.offsets[row + 1] - x.offsets[row];
}

__device__ __forceinline__ part *part_at(const args &x, kind what, unsigned at)
{
  if (what == kTurned) return x.turned_parts + at;
  return what == kNarrow ? x.parts + at : x.parts + (x.most_parts - 1 - (int)at);
}

// Appends the parts of the rows that a warp's lanes have; `count` of this lane's, of `pairs` each,
// the first pair of which is `begin`.
__device__ __forceinline__ void append(const args &x, kind what, int row, int begin, int count,
                                       int pairs)
{
  const int lane = threadIdx.x % 32, sum = sum_up_to(count);
  const int all = __shfl_sync(0xffffffffu, sum, 31);
  if (all == 0) return;
  unsigned at = 0;
  if (lane == 0) at = atomicAdd(&x.listed[what], (unsigned)all);
  at = __shfl_sync(0xffffffffu, at, 0) + (unsigned)(sum - count);
  for (int c = 0; c < count; c++)
    *part_at(x, what, at + (unsigned)c) = part{row, begin + c * pairs};
}

// A thread for each row.
__global__ void list_parts(args x)
{
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  int begin = 0, pairs = 0, length = 0;
  if (row < x.rows) {
    begin = x.m.offsets[row], pairs = length_of(x.m, row), length = length_of(x.a, row);
  }
  const bool wide = length > shape<32>::kChunk;
  const int each = wide ? x.wide_pairs : shape<32>::kPairs;
  const int count = length > 0 ? (pairs + each - 1) / each : 0;
  append(x, kNarrow, row, begin, wide ? 0 : count, each);
  append(x, kWide, row, begin, wide ? count : 0, each);
}

// Is the pair of a row of A of `a` entries and one of B of `b` computed by the latter?
__device__ __forceinline__ bool is_turned(const args &x, int a, int b)
{
  return x.turning && a > 0 && b > shape<32>::kChunk && b > a + a / 4 + 16 &&
         b <= (long long)a * (33 - __clz(b)) * kStep;
}

} // namespace masked
} // namespace shunt
