// tile_spmm_proved.cuh: spmm_gather, and in the same launch the proof that the merged
// tiles, all dense, still stand for A (kernels/guard/proof_inside.cuh).
//
// A piece of work is what a block of spmm_gather has: one unit (16 rows x 64 columns of C)
// for each Split warps.
#pragma once
#include "kernels/guard/proof_inside.cuh"
#include "kernels/tile/tile_spmm_gather.cuh"

namespace shunt
{
namespace tile
{

// Behind the barriers of the units.
template <int Split> using proved_team = guard::team<gather_warps(Split), (Split > 4 ? 2 : 1)>;

// Nothing could be agreed on: the rows that this block has stored, which no other writes.
template <class T, class Out, int Split>
__device__ __noinline__ void repair_own(const arguments &p, const guard::proof &f)
{
  constexpr int kStrips = kGatherTile / 32, kUnits = gather_warps(Split) / Split;
  const float alpha = f.a.alpha.get();
  const int wide = (p.n + kGatherTile - 1) / kGatherTile;
  for (int i = blockIdx.x; i < f.pieces; i += gridDim.x)
    for (int w = threadIdx.x / 32; w < kUnits * kRows * kStrips;
         w += proved_team<Split>::kThreads / 32) {
      const int64_t unit = static_cast<int64_t>(i) * kUnits + w / (kRows * kStrips);
      const int64_t row = unit / wide * kRows + w / kStrips % kRows;
      const int64_t strip = unit % wide * kStrips + w % kStrips;
      if (row >= p.rows || strip * 32 >= p.n) continue;
      guard::multiply_strip<T, Out>(f.a, row, strip, alpha, 0.0f);
    }
}

template <class T, class Out, int Split>
__global__ void __launch_bounds__(proved_team<Split>::kThreads, proved_blocks(Split))
    spmm_gather_proved(const __grid_constant__ arguments p, const __grid_constant__ guard::proof f)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ guard::proof_state<proved_team<Split>> b;
  guard::open_proof(b);
  if (threadIdx.x < gather_warps(Split) * 32) {
    wait_for_previous();
    for (int i = blockIdx.x; i < f.pieces; i += gridDim.x) {
      multiply_units<T, Out, false, Split, false>(p, shared, i);
      unit_barrier<Split>(); // the images are read
    }
  } else {
    guard::prove(f, b);
  }
  if (!guard::is_to_repair(b, threadIdx.x == 0)) return;
  guard::repair_or_own<T, Out>(f.a, f.r, b.order.next, [&] { repair_own<T, Out, Split>(p, f); });
}

} // namespace tile
} // namespace shunt
