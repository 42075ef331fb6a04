// masked_dot_turned.cuh: the pairs that are computed by their row of B, which is the longer one,
// listed by it (kernels/semiring/device/masked_dot_cuda.h).
//
//   M's entries (i,j)                     (0,5) (1,2) (1,5) (4,5)
//   turn_pairs<false>   turned_end        row 2: 1, row 5: 3          how many
//   place_turned                          row 2: 3, row 5: 0          rows in any order; parts
//   turn_pairs<true>    turned            | 5: (1,.) (4,.) (0,.) | 2: (1,.) |   in any order
//                       turned_end        row 2: 4, row 5: 3          behind its last
#pragma once
#include "kernels/semiring/device/masked_dot_parts.cuh"

namespace shunt
{
namespace masked
{

// A warp for each row of M: how many pairs of each row of B are turned; or, once they have places,
// which.
template <bool Placed> __global__ void __launch_bounds__(256) turn_pairs(args x)
{
  const int row = (int)((blockIdx.x * 256 + threadIdx.x) / 32);
  if (row >= x.rows) return;
  const int a = length_of(x.a, row), end = x.m.offsets[row + 1];
  for (int e = x.m.offsets[row] + (int)threadIdx.x % 32; e < end; e += 32) {
    const int j = x.m.columns[e];
    if (!is_turned(x, a, length_of(x.b, j))) continue;
    const unsigned at = atomicAdd(&x.turned_end[j], 1u);
    if (Placed) x.turned[at] = turned_pair{row, e};
  }
}

// A thread for each row of B: places for its pairs, and their parts.
__global__ void __launch_bounds__(256) place_turned(args x)
{
  const int row = (int)(blockIdx.x * 256 + threadIdx.x);
  const int count = row < x.b_rows ? (int)x.turned_end[row] : 0;
  const int lane = threadIdx.x % 32, sum = sum_up_to(count);
  unsigned first = 0;
  if (lane == 31) first = atomicAdd(x.turned_count, (unsigned)sum);
  first = __shfl_sync(0xffffffffu, first, 31) + (unsigned)(sum - count);
  if (row < x.b_rows) x.turned_end[row] = first;
  append(x, kTurned, row, (int)first, (count + x.wide_pairs - 1) / x.wide_pairs, x.wide_pairs);
}

} // namespace masked
} // namespace shunt
