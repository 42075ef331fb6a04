// dense_spmm_wide_wgmma.cuh: C = alpha D B with D a dense copy of a sparse A and B of many columns,
// and in the same launch the proof that D still stands for A.
//
// A block has tiles of C of 128 rows x kColumns columns, and walks K in steps of 64:
//
//   warp  0         tells the copy engine what to bring        D, B -> ring in shared memory
//   warps 1 .. 3    take the block's share of A's fingerprint  A's arrays -> rings of their own
//   warps 4 .. 11   two warpgroups, 64 rows each, multiply     ring -> wgmma -> registers -> C,
//                   and hash as well if there is no tile       the last tile by way of the ring and
//                   for them                                   the copy engine where C lies so
//   meanwhile       when all is multiplied and hashed, and the last tile still being stored, one
//                   thread arrives with the block's part of the fingerprint, and whether its part
//                   of C's first row holds a NaN or Inf; a block that sees the sum complete knows
//                   whether C stands or is computed row by row (kernels/guard/agreement.cuh),
//                   once all have stored; where D is trusted nothing is hashed, and each block sees
//                   to its own tiles
//
//   ring, one of kStages:  | D: 128 rows x 64 of K | B: 64 columns x 64 of K | next 64 columns | ..
//                            16 KB                   8 KB each; rows of 128 bytes, swizzled
//
// The kernel for narrow B (dense_spmm_wgmma.cuh) waits for memory, this one for shared memory,
// where the copy engine writes 48 of the 128 bytes a cycle and products read 80 (256 columns).
// Registers leave three warps to hash; kernels/guard/fingerprint_bulk.cuh is how three are enough.
//
// full, empty: barriers of a stage; the copy engine has brought it, all warps are done with it.
// begun: the first stage has come; A is read only then, as its hash is needed at the end.
//
// Lost: clusters that share B by multicast, 1 to 15 % slower; three stages and larger rings for A;
// whole rows of C by way of the ring stored by threads, 1.6 times as long as 64 bytes a row from
// registers; A hashed from registers alone (kernels/guard/fingerprint_rolling.cuh), 2 to 6 %
// slower; one warpgroup two steps ahead of the other.  Figures: tests/bench/dense.md.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/common/wgmma_store.cuh"
#include "kernels/dense/dense_spmm_wgmma_frame.cuh"
#include "kernels/dense/dense_spmm_wgmma_shape.h"
#include "kernels/dense/dense_spmm_wide_store.cuh"
#include "kernels/guard/agreement.cuh"
#include "kernels/guard/fingerprint_bulk.cuh"
#include "kernels/ptx/elect.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"

namespace shunt
{
namespace dense::wide
{

using dense::kBoxBytes;
using dense::ring_place;
using dense::wait_for;
using destination = wgmma::destination<float>;

constexpr int kDepth = 64, kPanel = 2048;
constexpr int kMultiplyingWarps = 8, kHashWarps = 3;
constexpr int kThreads = 128 + kMultiplyingWarps * 32, kSpeaker = 32; // speaks for its block

template <int Columns, int Stages, int Slots> struct shape {
  static constexpr int kColumns = Columns, kStages = Stages, kSlots = Slots;
  static constexpr int kBoxes = Columns / 64; // of B
  static constexpr int kStageBytes = (2 + kBoxes) * kBoxBytes;
  static constexpr int kRingBytes = Stages * kStageBytes;
  using idle_ring = guard::hash_ring_of<4>; // of a warp without a tile
  static_assert(kMultiplyingWarps * sizeof(idle_ring) <= kRingBytes, "they lie in the ring");
};
using shape_64 = shape<64, 7, 4>;
using shape_128 = shape<128, 5, 4>;
using shape_256 = shape<256, 4, 2>;

// Behind the ring.
template <class Shape> struct block_state {
  guard::hash_ring_of<Shape::kSlots> ring[kHashWarps];
  uint64_t full[Shape::kStages], empty[Shape::kStages], begun;
  alignas(16) ptx::word_pair at_home; // arrives while the block multiplies
  struct shunt_fingerprint part[kHashWarps + kMultiplyingWarps];
  uint64_t found; // barrier: warps have written what follows, and `part`
  bool alarm;
  guard::repair_order order;
  guard::word_place place;
};
template <class Shape> constexpr int shared_bytes = Shape::kRingBytes + sizeof(block_state<Shape>);

// What the kernel is told beside the maps.
struct arguments {
  int steps;                     // of K
  int tiles, down, tiles_across; // of C
  destination c;
  bool boxes;   // C can be stored by the copy engine: there is a map of it
  bool trusted; // D: each block looks at the first row of its tiles, not one for all at C's
};

// The block's tiles of C are blockIdx.x, blockIdx.x + gridDim.x, ..: where they are.  They go in
// panels of kPanel columns, so that blocks at work at one time share rows and columns that lie in
// L2.
template <class Shape> struct tile_place {
  int row, column; // the first
  __device__ __forceinline__ tile_place(const arguments &p, int tile)
  {
    constexpr int wide = kPanel / Shape::kColumns;
    const int panel = tile / (wide * p.down), in_panel = tile % (wide * p.down);
    const int here = min(wide, p.tiles_across - panel * wide);
    row = in_panel / here * kRows;
    column = (panel * wide + in_panel % here) * Shape::kColumns;
  }
};

// ---- fetching --------------------------------------------------------------------------------

template <int BMajor, class Shape>
__device__ __forceinline__ void fetch_step(const tile_place<Shape> &at, int k,
                                           const CUtensorMap &map_d, const CUtensorMap &map_b,
                                           uint32_t to, uint32_t full)
{
  ptx::mbarrier_arrive_expect(full, Shape::kStageBytes);
  ptx::tensor_load_2d(to, &map_d, k, at.row, full);
#pragma unroll
  for (int i = 0; i < Shape::kBoxes; i++) {
    const int n = at.column + i * 64;
    ptx::tensor_load_2d(to + (2 + i) * kBoxBytes, &map_b, BMajor ? n : k, BMajor ? k : n, full);
  }
}

template <int BMajor, class Shape>
__device__ __forceinline__ void fetch(const arguments &p, const CUtensorMap &map_d,
                                      const CUtensorMap &map_b, uint32_t ring,
                                      const block_state<Shape> &b)
{
  const int steps = p.steps;
  ring_place<Shape> place;
  for (int tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const tile_place<Shape> at(p, tile);
    for (int step = 0; step < steps; step++, place.advance()) {
      wait_for(b.empty[place.slot], place.parity ^ 1);
      if (ptx::elect_one())
        fetch_step<BMajor, Shape>(at, step * kDepth, map_d, map_b,
                                  ring + place.slot * Shape::kStageBytes,
                                  ptx::shared_address(&b.full[place.slot]));
    }
  }
}

// ---- multiplying and storing -------------------------------------------------------------------

// Tells that this warp is done with a stage.
template <class Shape>
__device__ __forceinline__ void release(const block_state<Shape> &b, int slot)
{
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive_at(ptx::shared_address(&b.empty[slot]), 0);
}

// d = the group's 64 rows of a tile.  One step's products are under way while the next one's begin.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply(int steps, int group, uint32_t ring,
                                         const block_state<Shape> &b, ring_place<Shape> &place,
                                         float (&d)[Shape::kColumns / 2])
{
  const uint64_t of_d = ptx::wgmma_operand(ring + group * kBoxBytes, 0, 1024);
  const uint64_t of_b = ptx::wgmma_operand(ring + 2 * kBoxBytes, kBoxBytes, 1024);
  int last = 0;
  for (int step = 0; step < steps; step++) {
    const uint32_t stage = place.slot * (Shape::kStageBytes >> 4);
    wait_for(b.full[place.slot], place.parity);
    dense::multiply_64<T, BMajor>(d, of_d + stage, of_b + stage, step > 0);
    ptx::wgmma_wait<1>();
    if (step > 0) release(b, last);
    last = place.slot;
    place.advance();
  }
  ptx::wgmma_wait<0>();
  release(b, last);
}

// Whether the first row of the block's first warp that multiplies holds a NaN or Inf.
template <class T, int Columns>
__device__ __forceinline__ bool alarms(const destination &c, const float (&d)[Columns / 2])
{
  if (threadIdx.x >= 128 + 4) return false;
  const float alpha = c.alpha.get();
  return c.wide_sums ? dense::any_nonfinite<float, Columns>(d, alpha)
                     : dense::any_nonfinite<T, Columns>(d, alpha);
}

// By all lanes of a warp, number `own` of those that find something.
template <class State>
__device__ __forceinline__ void tell_found(struct shunt_fingerprint part, bool alarm, int own,
                                           State &b)
{
  if (alarm) b.alarm = true;
  guard::warp_sum(part, 32);
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  b.part[own] = part;
  ptx::mbarrier_arrive(ptx::shared_address(&b.found));
}

// The block's last sums by way of the ring, where nothing more is brought: each group takes a stage
// that both are done with.  place: behind the last step.
template <class T, class Shape>
__device__ __forceinline__ void store_last(const arguments &p, const CUtensorMap &map_c, int group,
                                           const float (&d)[Shape::kColumns / 2],
                                           const tile_place<Shape> &at, unsigned char *ring,
                                           const block_state<Shape> &b, ring_place<Shape> place)
{
  constexpr int bytes = store_bytes<Shape::kColumns>;
  static_assert(4 * bytes <= Shape::kStageBytes, "a stage has room");
  const int warp = threadIdx.x / 32 % 4;
  if (group == 1) place.advance();
  wait_for(b.empty[place.slot], place.parity ^ 1);
  store_boxes<T, Shape::kColumns>(map_c, d, p.c.alpha.get(),
                                  ring + place.slot * Shape::kStageBytes + warp * bytes,
                                  at.row + group * 64 + warp * 16, at.column);
}

template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply_and_store(const arguments &p, const CUtensorMap &map_c,
                                                   int group, int own, unsigned char *ring,
                                                   block_state<Shape> &b)
{
  constexpr int kColumns = Shape::kColumns;
  float d[kColumns / 2];
  bool alarm = false;
  ring_place<Shape> place;
  for (int tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const tile_place<Shape> at(p, tile);
    const bool last = tile + (int)gridDim.x >= p.tiles;
    multiply<T, BMajor, Shape>(p.steps, group, ptx::shared_address(ring), b, place, d);
    if (p.trusted || at.row == 0) alarm |= alarms<T, kColumns>(p.c, d);
    if (last) tell_found({0, 0}, alarm, own, b);
    if (last && p.boxes)
      store_last<T, Shape>(p, map_c, group, d, at, ring, b, place);
    else
      wgmma::store_rows<T, kColumns>(p.c, d, at.row + group * 64, at.column);
  }
}

// ---- proving ---------------------------------------------------------------------------------

// The tiles that this block has stored.
template <class S, class Out, class Shape>
__device__ __noinline__ void repair_own(const arguments &p, const csr_operands<float> &a)
{
  for (int tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const tile_place<Shape> at(p, tile);
    guard::repair_rectangle<S, Out>(a, {at.row, at.column / 32, kRows, Shape::kColumns / 32},
                                    threadIdx.x / 32 - 4, kMultiplyingWarps);
  }
}

template <class S, class Out, class Shape>
__device__ __forceinline__ void repair(const arguments &p, const csr_operands<float> &a,
                                       const guard::repair_args &r, uint32_t *next)
{
  guard::repair_or_own<S, Out>(a, r, next, [&] { repair_own<S, Out, Shape>(p, a); });
}

// Warp `own` among those of the grid that hash: three of a block that has tiles, all but one of
// the others.
__device__ __forceinline__ guard::hash_worker find_worker(const arguments &p, int own)
{
  constexpr int all = kHashWarps + kMultiplyingWarps;
  const int block = blockIdx.x, blocks = gridDim.x, busy = min(p.tiles, blocks);
  const int before = kHashWarps * min(block, busy) + all * max(block - busy, 0);
  return {before + own, kHashWarps * busy + all * (blocks - busy), 0, 1};
}

// By a warp whose block has no tile: its ring lies in the block's.
template <class Shape>
__device__ __forceinline__ struct shunt_fingerprint hash_idle(const arguments &p,
                                                              const guard::repair_args &r, int own,
                                                              const typename Shape::idle_ring &ring)
{
  if (threadIdx.x % 32 == 0) {
    guard::prepare_hash_ring(ring);
    ptx::mbarrier_init_fence();
  }
  __syncwarp();
  return guard::hash_share_bulk(r.arrays, find_worker(p, own), ring);
}

// By the speaker of a block that looks at its own rows, once all its warps have told.
template <class Shape>
__device__ __forceinline__ void judge_own(const guard::repair_args &r, block_state<Shape> &b,
                                          bool flagged)
{
  wait_for(b.found, 0);
  b.order = guard::order_for_own(r, b.alarm, flagged);
  b.place = {};
}

// ---- the kinds of warps ------------------------------------------------------------------------

// group: of warps, in a way that the compiler knows to be the same for all lanes: else products
// wait for their operands' descriptors.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void
be_multiplying(const arguments &p, const CUtensorMap &map_c, const csr_operands<float> &a,
               const guard::repair_args &r, int group, unsigned char *shared, block_state<Shape> &b)
{
  const bool works = (int)blockIdx.x < p.tiles;
  const int warp = threadIdx.x / 32 - 4, own = kHashWarps + warp;
  if (works) wait_for(b.full[0], 0);
  if (threadIdx.x == 128) ptx::mbarrier_arrive_at(ptx::shared_address(&b.begun), 0);
  if (works)
    multiply_and_store<T, BMajor, Shape>(p, map_c, group, own, shared, b);
  else
    tell_found(
        hash_idle<Shape>(p, r, own, reinterpret_cast<typename Shape::idle_ring *>(shared)[warp]),
        false, own, b);
  if (!guard::is_to_repair(b, threadIdx.x == kSpeaker)) return;
  if (p.c.wide_sums)
    repair<T, float, Shape>(p, a, r, b.order.next);
  else
    repair<T, T, Shape>(p, a, r, b.order.next);
}

template <int BMajor, class Shape>
__device__ __forceinline__ void be_fetching(const arguments &p, const CUtensorMap &map_d,
                                            const CUtensorMap &map_b, uint32_t ring,
                                            const block_state<Shape> &b)
{
  fetch<BMajor, Shape>(p, map_d, map_b, ring, b);
  guard::is_to_repair(b, threadIdx.x == kSpeaker);
}

template <class Shape>
__device__ __forceinline__ void
be_hashing(const arguments &p, const csr_operands<float> &a, const guard::repair_args &r,
           const guard::hash_worker &worker, int own, block_state<Shape> &b)
{
  const bool speaks = threadIdx.x == kSpeaker;
  bool flagged = false;
  if (speaks) {
    if (!p.trusted) guard::ask_for_home(r, &b.at_home);
    flagged = (p.trusted || guard::reports()) && guard::is_flagged(a);
  }
  wait_for(b.begun, 0);
  tell_found(guard::hash_share_bulk(r.arrays, worker, b.ring[own]), false, own, b);
  if (speaks && p.trusted) judge_own(r, b, flagged);
  if (speaks && !p.trusted) guard::agree_for_block(r, b, kHashWarps + kMultiplyingWarps, flagged);
  guard::is_to_repair(b, threadIdx.x == kSpeaker);
}

template <class Shape>
__device__ __forceinline__ void prepare(const CUtensorMap &map_d, const CUtensorMap &map_b,
                                        block_state<Shape> &b)
{
  if (threadIdx.x == 0) {
    ptx::tensor_prefetch(&map_d);
    ptx::tensor_prefetch(&map_b);
    dense::prepare_ring<Shape>(b, kMultiplyingWarps);
    ptx::mbarrier_init(ptx::shared_address(&b.begun), 1);
    ptx::mbarrier_init(ptx::shared_address(&b.found), kHashWarps + kMultiplyingWarps);
    b.alarm = false;
    for (const auto &hashing : b.ring) guard::prepare_hash_ring(hashing);
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
}

template <class T, int BMajor, class Shape>
__global__ void __launch_bounds__(kThreads, 1)
    spmm_dense_wide(const __grid_constant__ arguments p, const __grid_constant__ CUtensorMap map_d,
                    const __grid_constant__ CUtensorMap map_b,
                    const __grid_constant__ CUtensorMap map_c,
                    const __grid_constant__ csr_operands<float> a,
                    const __grid_constant__ guard::repair_args r)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  block_state<Shape> &b = *reinterpret_cast<block_state<Shape> *>(shared + Shape::kRingBytes);
  prepare<Shape>(map_d, map_b, b);
  if (p.boxes && threadIdx.x == 128) ptx::tensor_prefetch(&map_c);
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (warp >= 4) {
    wait_for_previous();
    be_multiplying<T, BMajor, Shape>(p, map_c, a, r, warp / 4 - 1, shared, b);
  } else if (warp == 0) {
    wait_for_previous();
    be_fetching<BMajor, Shape>(p, map_d, map_b, ptx::shared_address(shared), b);
  } else {
    const guard::hash_worker worker = find_worker(p, warp - 1);
    guard::prefetch_share(r.arrays, worker);
    wait_for_previous();
    be_hashing(p, a, r, worker, warp - 1, b);
  }
}

} // namespace dense::wide
} // namespace shunt
