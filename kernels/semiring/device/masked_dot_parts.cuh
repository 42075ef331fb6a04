// masked_dot_parts.cuh: parts of M's entries, listed for warps and for blocks.
//
//   parts   | for warps -->              <-- for blocks |      in any order
//
// Whoever is free takes the next ones of its kind.
#pragma once
#include "kernels/semiring/device/masked_dot_table.cuh"

namespace shunt
{
namespace masked
{

struct rows_view {
  const int *offsets, *columns;
  const void *values;
  bool iso;
};

struct part {
  int row, begin; // the first of M's entries
};

enum kind { kNarrow, kWide, kKinds };

struct args {
  rows_view m, a, b;
  int rows, multiplier;
  bool one_matrix; // and (x) commutes: entries may be left to (j,i)
  part *parts;
  int most_parts;
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
  return what == kNarrow ? x.parts + at : x.parts + (x.most_parts - 1 - (int)at);
}

// Appends the parts of the rows that a warp's lanes have; `count` of this lane's, of `pairs` each.
__device__ __forceinline__ void append(const args &x, kind what, int row, int count, int pairs)
{
  const int lane = threadIdx.x % 32;
  int sum = count;
  for (int step = 1; step < 32; step *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += below;
  }
  const int all = __shfl_sync(0xffffffffu, sum, 31);
  if (all == 0) return;
  unsigned at = 0;
  if (lane == 0) at = atomicAdd(&x.listed[what], (unsigned)all);
  at = __shfl_sync(0xffffffffu, at, 0) + (unsigned)(sum - count);
  for (int c = 0; c < count; c++)
    *part_at(x, what, at + (unsigned)c) = part{row, x.m.offsets[row] + c * pairs};
}

// A thread for each row.
__global__ void list_parts(args x)
{
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  int pairs = 0, length = 0;
  if (row < x.rows) pairs = length_of(x.m, row), length = length_of(x.a, row);
  const bool wide = length > shape<32>::kChunk;
  const int each = wide ? shape<256>::kPairs : shape<32>::kPairs;
  const int count = length > 0 ? (pairs + each - 1) / each : 0;
  append(x, kNarrow, row, wide ? 0 : count, each);
  append(x, kWide, row, wide ? count : 0, each);
}

} // namespace masked
} // namespace shunt
