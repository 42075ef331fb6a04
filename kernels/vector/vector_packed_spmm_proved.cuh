// vector_packed_spmm_proved.cuh: spmm_direct, and in the same launch the proof that the packed copy
// still stands for A (kernels/guard/proof_inside.cuh).
//
// A piece of work is what a block of spmm_direct has.  Launched early, the warps that
// multiply read the lists of their first steps while the kernel before is still at work, and wait
// for it only when they turn to B: nobody writes the copy that late (vector_kernels.h).  Where the
// next kernel waits they let it in when they have multiplied; those that hash, as soon as they
// have, if the product is brief.  0.65 to 0.9 us of a call.
#pragma once
#include "kernels/guard/proof_inside.cuh"
#include "kernels/vector/vector_packed_spmm_direct.cuh"

namespace shunt
{
namespace vector
{

// Registers of two blocks decide how many warps hash; the barrier is behind those of the slices.
template <class Shape> using proved_team = guard::team<kDirectWarps, Shape::kTile == 128 ? 2 : 4>;

struct proof : guard::proof {
  int down; // pieces of a column of them
};

// Nothing could be agreed on: the rows that this block has stored, which no other writes.
template <class T, class Out, class Shape>
__device__ __noinline__ void repair_own(const arguments &p, const proof &f)
{
  constexpr int kStrips = Shape::kTile / 32;
  const float alpha = f.a.alpha.get();
  const int rows = (kDirectWarps >> p.log2_slices) * kGroup;
  for (int i = blockIdx.x; i < f.pieces; i += gridDim.x)
    for (int w = threadIdx.x / 32; w < rows * kStrips; w += proved_team<Shape>::kThreads / 32) {
      const int place = i % f.down * rows + w / kStrips;
      const int64_t strip = i / f.down * kStrips + w % kStrips;
      if (place >= p.rows || strip * 32 >= p.n) continue;
      const int64_t row = p.row_of ? __ldg(p.row_of + place) : place;
      guard::multiply_strip<T, Out>(f.a, row, strip, alpha, 0.0f);
    }
}

template <class T, class Out, class Shape>
__global__ void __launch_bounds__(proved_team<Shape>::kThreads, 2)
    spmm_direct_proved(const __grid_constant__ arguments p, const __grid_constant__ proof f)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ guard::proof_state<proved_team<Shape>> b;
  guard::open_proof(b);
  if (threadIdx.x < kDirectWarps * 32) {
    for (int i = blockIdx.x; i < f.pieces; i += gridDim.x) {
      multiply_groups_of<T, Out, Shape>(p, shared, i % f.down, i / f.down * Shape::kTile);
      slices_barrier(p); // the images are read
    }
    wait_for_previous(); // those who had no group
    if (p.next_waits) let_next_in();
  } else {
    guard::prove(f, b);
  }
  if (!guard::is_to_repair(b, threadIdx.x == 0)) return;
  guard::repair_or_own<T, Out>(f.a, f.r, b.order.next, [&] { repair_own<T, Out, Shape>(p, f); });
}

} // namespace vector
} // namespace shunt
