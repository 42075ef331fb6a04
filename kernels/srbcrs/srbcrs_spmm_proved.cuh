// srbcrs_spmm_proved.cuh: spmm_strides, and in the same launch the proof that the packed copy still
// stands for A (kernels/guard/proof_inside.cuh).
//
// A piece of work, a block's of spmm_strides, is that of a set of warps.  Launched early, the warps
// that multiply read the lists of their first strides while the kernel before is still at work, and
// wait for it only when they turn to B: nobody writes the copy that late (srbcrs_kernels.h).  They
// let the next kernel in when they have multiplied, those that hash as soon as they have.
#pragma once
#include "kernels/guard/proof_inside.cuh"
#include "kernels/srbcrs/srbcrs_spmm_combined.cuh"

namespace shunt
{
namespace srbcrs
{

// A block has two sets of warps that multiply, each with pieces of its own: half as many blocks as
// pieces arrive at the sum and wait for it.
constexpr int kSets = 2, kProvedBlocks = 2; // of a multiprocessor
using proved_team = guard::team<kSets * kWarps, 4>;

// Nothing could be agreed on: the rows that this block has stored, which no other writes.
template <class T, int X, int Split>
__device__ __noinline__ void repair_own(const arguments<combined_store<T>> &p,
                                        const guard::proof_in<T> &f)
{
  constexpr int kStrips = 8 * X / 32, kUnits = kWarps / Split;
  const T alpha = f.a.alpha.get();
  const int wide = (p.n + 8 * X - 1) / (8 * X), strips = p.v.height * kStrips;
  for (int i = blockIdx.x; i < f.pieces; i += gridDim.x)
    for (int w = threadIdx.x / 32; w < kUnits * strips; w += proved_team::kThreads / 32) {
      const int64_t unit = static_cast<int64_t>(i) * kUnits + w / strips;
      const int64_t row = unit / wide * p.v.height + w % strips / kStrips;
      const int64_t strip = unit % wide * kStrips + w % kStrips;
      if (row >= p.v.rows || strip * 32 >= p.n) continue;
      guard::multiply_strip<int8_t, T>(f.a, row, strip, alpha, T(0));
    }
}

// T: of C, and what alpha is.
template <class T, int X, int Split>
__global__ void __launch_bounds__(proved_team::kThreads, kProvedBlocks)
    spmm_strides_proved(const __grid_constant__ arguments<combined_store<T>> p,
                        const __grid_constant__ guard::proof_in<T> f)
{
  __shared__ guard::proof_state<proved_team> b;
  guard::open_proof(b);
  if (threadIdx.x < proved_team::kWarps * 32) {
    const int step = gridDim.x * kSets;
    for (int i = blockIdx.x + set_of_warp<kSets>() * gridDim.x; i < f.pieces; i += step) {
      multiply_piece<combined_store<T>, 8, 8, X, Split, true, kSets>(p, i,
                                                                     [] { wait_for_previous(); });
      if (Split > 1) unit_barrier<kSets>(); // the sums are read
    }
    wait_for_previous(); // those who had no group
    if (p.next_waits) let_next_in();
  } else {
    guard::prove(f, b);
  }
  if (!guard::is_to_repair(b, threadIdx.x == 0)) return;
  guard::repair_or_own<int8_t, T>(f.a, f.r, b.order.next, [&] { repair_own<T, X, Split>(p, f); });
}

} // namespace srbcrs
} // namespace shunt
