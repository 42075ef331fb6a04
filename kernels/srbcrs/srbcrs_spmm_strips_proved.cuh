// srbcrs_spmm_strips_proved.cuh: spmm_strips or spmm_whole, and in the same launch the proof that the
// packed copy still stands for A (kernels/guard/proof_inside.cuh).
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
#include "kernels/srbcrs/srbcrs_spmm_whole.cuh"

namespace shunt
{
namespace srbcrs
{

constexpr int kStripsBarrier = 1; // of the warps that multiply
using strips_team = guard::team<16, 4>;

// Behind the rows of B and their barriers is what the warps tell each other.
using strips_state = guard::proof_state<strips_team>;
inline int strips_proof_at(int bytes)
{
  return (bytes + 15) / 16 * 16;
}
constexpr int kStripsProvedBytes = SHUNT_SRBCRS_STRIPS_BYTES + 512;
static_assert(SHUNT_SRBCRS_STRIPS_BYTES + 16 + sizeof(strips_state) <= kStripsProvedBytes,
              "what a device is asked for");

template <class T> struct strips_arguments {
  CUtensorMap map;
  arguments<combined_store<T>> p;
  int down;  // blocks of a column of them
  int state; // where it is in shared memory
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
strips_state &b = *reinterpret_cast<strips_state *>(shared + k.state);
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
  const auto ready = [] { wait_for_previous(); };
  const auto meet = [] { __barrier_sync_count(kStripsBarrier, strips_team::kWarps * 32); };
  if constexpr (Shape::kTile == SHUNT_SRBCRS_WHOLE_COLUMNS)
    multiply_whole<combined_store<T>, Shape>(k.p, k.map, at, shared, ready, meet);
  else
    multiply_strips<combined_store<T>, Shape>(k.p, k.map, at, shared, ready, meet);
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
