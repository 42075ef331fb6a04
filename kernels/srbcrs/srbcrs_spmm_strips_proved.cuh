// srbcrs_spmm_strips_proved.cuh: spmm_strips, and in the same launch the proof that the packed copy
// still stands for A (kernels/guard/proof_inside.cuh).
//
//   warps  0 .. 15   multiply and store
//         16 .. 19   hash, agree
//
// A block has one part of C, so there is one round of them: the ring is not opened twice.  What the
// strips leave of a multiprocessor is issue slots and the way from L2: shared memory is what binds
// them.  A thread has 96 registers, where spmm_strips has 128; some of what a stride needs is in
// local memory.  (setmaxnreg could move a few from those who hash: 104 and 64, all there are.)
#pragma once
#include "kernels/guard/proof_inside.cuh"
#include "kernels/srbcrs/srbcrs_spmm_strips.cuh"

namespace shunt
{
namespace srbcrs
{

constexpr int kStripsBarrier = 1; // of the warps that multiply
using strips_team = guard::team<16, 4>;

// The ring, and behind it what the warps tell each other.
template <class Shape> constexpr int strips_proof_at = (Shape::kBytes + 15) / 16 * 16;
template <class Shape>
constexpr int strips_proved_bytes = strips_proof_at<Shape> +
                                    static_cast<int>(sizeof(guard::proof_state<strips_team>));
constexpr int kStripsProvedBytes = SHUNT_SRBCRS_STRIPS_BYTES + 512;
static_assert(strips_proved_bytes<strips_128> <= kStripsProvedBytes &&
                  strips_proved_bytes<strips_64> <= kStripsProvedBytes,
              "what a device is asked for");

template <class T> struct strips_arguments {
  CUtensorMap map;
  arguments<combined_store<T>> p;
  int down; // blocks of a column of them
};

// T: of C, and what alpha is.
template <class T, class Shape>
__global__ void __launch_bounds__(strips_team::kThreads, 1)
    spmm_strips_proved(const __grid_constant__ strips_arguments<T> k,
                       const __grid_constant__ guard::proof_in<T> f)
{
  static_assert(Shape::kWarps == strips_team::kWarps, "the first warps multiply");
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using state = guard::proof_state<strips_team>;
  state &b = *reinterpret_cast<state *>(shared + strips_proof_at<Shape>);
  guard::open_proof(b);
  constexpr int kGroupsOfBlock = Shape::kWarps * Shape::kGroups;
  // The same for all lanes, as the compiler knows.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (warp >= strips_team::kWarps) {
    guard::prove(f, b);
    guard::is_to_repair(b, false);
    return;
  }
  const int down = static_cast<int>(blockIdx.x) % k.down, across = blockIdx.x / k.down;
  const strips_place at = {static_cast<int64_t>(down) * kGroupsOfBlock, across * Shape::kTile};
  multiply_strips<combined_store<T>, Shape>(
      k.p, k.map, at, shared, [] { wait_for_previous(); },
      [] { __barrier_sync_count(kStripsBarrier, strips_team::kWarps * 32); });
  let_next_in();
  if (!guard::is_to_repair(b, threadIdx.x == 0)) return;
  // Nothing could be agreed on: what this block has stored, which no other writes.
  guard::repair_or_own<int8_t, T>(f.a, f.r, b.order.next, [&] {
    const guard::rectangle part = {at.group * k.p.v.height, at.column / 32,
                                   kGroupsOfBlock * k.p.v.height, Shape::kTile / 32};
    guard::repair_rectangle<int8_t, T>(f.a, part, warp, Shape::kWarps);
  });
#endif
}

} // namespace srbcrs
} // namespace shunt
