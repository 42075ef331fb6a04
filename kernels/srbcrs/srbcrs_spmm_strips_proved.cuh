// srbcrs_spmm_strips_proved.cuh: spmm_strips, and in the same launch the proof that the packed copy
// still stands for A (kernels/guard/proof_inside.cuh).
//
// Strips of 64 columns    warps  0 .. 15   multiply and store
//                               16 .. 19   hash, agree
//
// Strips of 128 columns   all 16 hash, while the copy engine brings B's first rows; then they
//                         multiply.  The last warp, which the others have to wait for last, speaks:
//                         it agrees before it multiplies, as the ring lets the others go ahead.
//
// With four warps more a thread has 96 registers, where strips of 128 columns need 128; what has no
// room there has none in L1 either, which strips leave little of.
//
// A block has one part of C, so there is one round of them: the ring is not opened twice.
#pragma once
#include "kernels/guard/proof_inside.cuh"
#include "kernels/srbcrs/srbcrs_spmm_strips.cuh"

namespace shunt
{
namespace srbcrs
{

constexpr int kStripsBarrier = 1; // of the warps that multiply
// Who multiplies only, and who hashes.
template <class Shape>
using strips_team = guard::team<Shape::kTile == 64 ? 16 : 0, Shape::kTile == 64 ? 4 : 16>;

// The ring, and behind it what the warps tell each other.
template <class Shape> using strips_state = guard::proof_state<strips_team<Shape>>;
template <class Shape> constexpr int strips_proof_at = (Shape::kBytes + 15) / 16 * 16;
template <class Shape>
constexpr int strips_proved_bytes = strips_proof_at<Shape> +
                                    static_cast<int>(sizeof(strips_state<Shape>));
constexpr int kStripsProvedBytes = SHUNT_SRBCRS_STRIPS_BYTES + 512;
static_assert(strips_proved_bytes<strips_128> <= kStripsProvedBytes &&
                  strips_proved_bytes<strips_64> <= kStripsProvedBytes,
              "what a device is asked for");

template <class T> struct strips_arguments {
  CUtensorMap map;
  arguments<combined_store<T>> p;
  int down; // blocks of a column of them
};

// All who multiply have met, and where they hash they have done so.
template <class T, class Shape>
__device__ __forceinline__ void meet_and_hash(const guard::proof_in<T> &f, strips_state<Shape> &b,
                                              int warp, bool speaks)
{
  if constexpr (strips_team<Shape>::kWarps > 0) {
    __barrier_sync_count(kStripsBarrier, Shape::kThreads);
  } else {
    const bool flagged = guard::hash_own(f, b, Shape::kWarps - 1 - warp);
    __syncthreads();
    if (speaks) guard::agree_on_found(f, b, flagged);
    __syncwarp();
  }
}

// T: of C, and what alpha is.
template <class T, class Shape>
__global__ void __launch_bounds__(strips_team<Shape>::kThreads, 1)
    spmm_strips_proved(const __grid_constant__ strips_arguments<T> k,
                       const __grid_constant__ guard::proof_in<T> f)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  using state = strips_state<Shape>;
  state &b = *reinterpret_cast<state *>(shared + strips_proof_at<Shape>);
  guard::open_proof(b);
  constexpr int kGroupsOfBlock = Shape::kWarps * Shape::kGroups;
  // The same for all lanes, as the compiler knows.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (warp >= Shape::kWarps) {
    guard::prove(f, b);
    guard::is_to_repair(b, false);
    return;
  }
  const int down = static_cast<int>(blockIdx.x) % k.down, across = blockIdx.x / k.down;
  const strips_place at = {static_cast<int64_t>(down) * kGroupsOfBlock, across * Shape::kTile};
  const bool speaks = threadIdx.x == Shape::kThreads - 32;
  multiply_strips<combined_store<T>, Shape>(
      k.p, k.map, at, shared, [] { wait_for_previous(); },
      [&] { meet_and_hash<T, Shape>(f, b, warp, speaks); });
  if (k.p.next_waits) let_next_in();
  if (!guard::is_to_repair(b, speaks)) return;
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
