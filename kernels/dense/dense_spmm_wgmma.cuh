// dense_spmm_wgmma.cuh: C = alpha D B with D a dense copy of a sparse A, and in the same launch the
// proof that D still stands for A.
//
// Some warps of each block multiply, others read A's arrays meanwhile and hash them, so that a
// call takes the longer of the two and not their sum:
//
//   warp  0         tells the copy engine what to bring          D, B -> ring in shared memory
//   warps 4 .. 11   two warpgroups multiply and store            ring -> wgmma -> C
//   all others      take the block's share of A's fingerprint    A -> registers
//   then            the block arrives with its part of the fingerprint, and whether its
//                   part of C's first row holds a NaN or Inf; a block that sees the sum complete
//                   knows whether C stands or is computed row by row (kernels/guard/agreement.cuh);
//                   where D is trusted nothing is hashed, and each block sees to its own rows
//
// A tile of C has 64 rows and kColumns columns; both warpgroups have all of it, each with every
// other 64 of K.  With `split` = 2, two blocks, a cluster, share a tile, each with half of K.  A
// block has one tile, or none: then it hashes only.  It is alone on its multiprocessor.  What
// becomes of the sums: dense_spmm_wgmma_store.cuh.
//
//   ring, one of kStages:  | D: 64 rows x 64 of K | D: next 64 of K | B: 64 columns x 64 of K | ..
//                            rows of 128 bytes, swizzled: see ptx/wgmma.cuh
//
// full, empty: barriers of a stage; the copy engine has brought it, all warps that read it are
// done.  begun: the first stage has come; A is read only then, as its hash is needed at the
// end.  B row-major is the MN-major operand, column-major the K-major one.
//
// No store of a product follows a repair: a block fences its stores before it arrives.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/dense/dense_spmm_wgmma_frame.cuh"
#include "kernels/dense/dense_spmm_wgmma_store.cuh"
#include "kernels/guard/agreement.cuh"
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/ptx/cluster_load.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"

namespace shunt
{
namespace dense
{

template <int Columns, int Stages, int Threads> struct shape {
  static constexpr int kColumns = Columns, kStages = Stages, kThreads = Threads;
  static constexpr int kBoxes = Columns / 64; // of B, for 64 of K
  static constexpr int kStageBytes = (2 + 2 * kBoxes) * kBoxBytes;
  static constexpr int kRingBytes = Stages * kStageBytes;
  static constexpr int kSumsBytes = Columns / 8 * 2 * kOctetBytes; // of two warpgroups
  static constexpr int kHashWarps = Threads / 32 - kMultiplyingWarps - 1;
  static_assert(kSumsBytes + kRows * (Columns * 4 + 16) <= kRingBytes,
                "sums and the tile of C lie in the ring");
};
using shape_64 = shape<64, 6, 640>;

// Behind the ring.
template <class Shape> struct block_state {
  uint64_t full[Shape::kStages], empty[Shape::kStages], begun;
  alignas(16) ptx::word_pair at_home; // arrives while the block multiplies
  struct shunt_fingerprint part[Shape::kHashWarps];
  guard::repair_order order;
};
template <class Shape> constexpr int shared_bytes = Shape::kRingBytes + sizeof(block_state<Shape>);

// Where a block stands.
struct position {
  bool works;      // it has a tile
  int row, column; // of C, the tile's first
  int part;        // of K
  int begin, end;  // of its steps through K
};
template <class Shape> __device__ __forceinline__ position find_position(const arguments &p)
{
  const int tile = blockIdx.x / p.split;
  position at;
  at.works = tile < p.tiles;
  at.part = (int)ptx::cluster_rank();
  at.row = tile / p.tiles_across * kRows;
  at.column = tile % p.tiles_across * Shape::kColumns;
  at.begin = (int)((int64_t)p.steps * at.part / p.split);
  at.end = (int)((int64_t)p.steps * (at.part + 1) / p.split);
  return at;
}

// ---- fetching --------------------------------------------------------------------------------

// A stage: kDepth of K, from k on.
template <int BMajor, class Shape>
__device__ __forceinline__ void fetch_step(const position &at, const CUtensorMap &map_d,
                                           const CUtensorMap &map_b, uint32_t to, uint32_t full,
                                           int k)
{
  ptx::mbarrier_arrive_expect(full, Shape::kStageBytes);
  for (int piece = 0; piece < 2; piece++)
    ptx::tensor_load_2d(to + piece * kBoxBytes, &map_d, k + piece * 64, at.row, full);
  for (int h = 0; h < 2 * Shape::kBoxes; h++) {
    const int n = at.column + h % Shape::kBoxes * 64, deep = k + h / Shape::kBoxes * 64;
    ptx::tensor_load_2d(to + (2 + h) * kBoxBytes, &map_b, BMajor ? n : deep, BMajor ? deep : n,
                        full);
  }
}

template <int BMajor, class Shape>
__device__ __forceinline__ void fetch(const position &at, const CUtensorMap &map_d,
                                      const CUtensorMap &map_b, uint32_t ring,
                                      const block_state<Shape> &b)
{
  ring_place<Shape> place;
  for (int step = at.begin; step < at.end; step++, place.advance()) {
    wait_for(b.empty[place.slot], place.parity ^ 1);
    fetch_step<BMajor, Shape>(at, map_d, map_b, ring + place.slot * Shape::kStageBytes,
                              ptx::shared_address(&b.full[place.slot]), step * kDepth);
  }
}

// ---- multiplying -----------------------------------------------------------------------------

// Tells that this warp is done with a stage.
template <class Shape>
__device__ __forceinline__ void release(const position &at, const block_state<Shape> &b, int slot)
{
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive_at(ptx::shared_address(&b.empty[slot]), at.part);
}

// d = the tile's rows of D times its columns of B, over the warpgroup's part of the block's K.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply(const position &at, uint32_t ring,
                                         const block_state<Shape> &b,
                                         float (&d)[Shape::kColumns / 2])
{
  constexpr uint32_t eight = 1024; // rows of 128 bytes
  const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128 - 1, 0);
  const uint32_t boxes = ring + (2 + group * Shape::kBoxes) * kBoxBytes;
  const uint64_t of_d = ptx::wgmma_operand(ring + group * kBoxBytes, 0, eight);
  const uint64_t of_b = ptx::wgmma_operand(boxes, kBoxBytes, eight);
  ring_place<Shape> place;
  int last = 0;
  for (int step = at.begin; step < at.end; step++) {
    const uint32_t stage = place.slot * (Shape::kStageBytes >> 4);
    wait_for(b.full[place.slot], place.parity);
    multiply_64<T, BMajor>(d, of_d + stage, of_b + stage, step > at.begin);
    ptx::wgmma_wait<1>();
    if (step > at.begin) release(at, b, last);
    last = place.slot;
    place.advance();
  }
  ptx::wgmma_wait<0>();
  release(at, b, last);
}

// ---- storing ---------------------------------------------------------------------------------

// The warpgroups' sums to C; true: a part of C's first row is not finite.  A barrier of the
// cluster is passed, at which the other threads arrive, too.
template <class Out, class Shape>
__device__ __forceinline__ bool store(const arguments &p, const position &at, unsigned char *shared,
                                      const float (&d)[Shape::kColumns / 2], float alpha)
{
  constexpr int kColumns = Shape::kColumns;
  unsigned char *tile = shared + Shape::kSumsBytes;
  __barrier_sync_count(1, kMultiplying); // both groups are done with the ring
  leave_sums<kColumns>(shared, d);
  ptx::cluster_barrier();
  put_added<Out, kColumns>(p, tile, ptx::shared_address(shared), at.part, alpha);
  __barrier_sync_count(1, kMultiplying);
  return store_rows<Out, kColumns>(p, tile, at.row, at.column, at.part);
}

// ---- proving ---------------------------------------------------------------------------------

// By one thread, when the whole block is done and its stores were ordered before it by a barrier.
template <class Shape>
__device__ __forceinline__ void agree_when_stored(const guard::repair_args &r,
                                                  block_state<Shape> &b, bool alarm, bool flagged)
{
  const struct shunt_fingerprint part = guard::sum_of_warps(b.part);
  __threadfence(); // who hears of this block's arrival may write C
  b.order = guard::agree(r, guard::reports(), b.at_home, part, alarm, flagged);
  if (b.order.needed) __threadfence();
}

// The rows that this block has stored.
template <class S, class Out, class Shape>
__device__ __noinline__ void repair_own(const arguments &p, const position &at,
                                        const csr_operands<float> &a)
{
  const int rows = kRows / p.split;
  guard::repair_rectangle<S, Out>(
      a, {at.row + at.part * rows, at.column / 32, rows, Shape::kColumns / 32},
      threadIdx.x / 32 - 4, kMultiplyingWarps);
}

template <class S, class Out, class Shape>
__device__ __forceinline__ void repair(const arguments &p, const position &at,
                                       const csr_operands<float> &a, const guard::repair_args &r,
                                       uint32_t *next)
{
  guard::repair_or_own<S, Out>(a, r, next, [&] {
    if (at.works) repair_own<S, Out, Shape>(p, at, a);
  });
}

// ---- the two kinds of warps --------------------------------------------------------------------

template <class T, int BMajor, class Shape>
__device__ __forceinline__ void
be_multiplying(const arguments &p, const position &at, const csr_operands<float> &a,
               const guard::repair_args &r, unsigned char *shared, block_state<Shape> &b)
{
  const bool speaks = threadIdx.x == 128;
  bool flagged = false, bad = false;
  if (speaks) {
    if (!p.trusted) guard::ask_for_home(r, &b.at_home);
    flagged = (p.trusted || guard::reports()) && guard::is_flagged(a);
  }
  const float alpha = a.alpha.get();
  if (at.works) wait_for(b.full[0], 0);
  if (speaks) ptx::mbarrier_arrive_at(ptx::shared_address(&b.begun), ptx::cluster_rank());
  if (at.works) {
    float d[Shape::kColumns / 2];
    multiply<T, BMajor, Shape>(at, ptx::shared_address(shared), b, d);
    bad = p.wide_sums ? store<float, Shape>(p, at, shared, d, alpha)
                      : store<T, Shape>(p, at, shared, d, alpha);
  } else {
    ptx::cluster_barrier(); // of store()
  }
  const bool alarm = __syncthreads_or(bad);
  ptx::cluster_arrive_relaxed();
  if (speaks && p.trusted) b.order = guard::order_for_own(r, alarm, flagged);
  if (speaks && !p.trusted) agree_when_stored(r, b, alarm, flagged);
  __barrier_sync_count(1, kMultiplying);
  ptx::cluster_wait();
  if (!b.order.needed) return;
  if (p.wide_sums)
    repair<T, float, Shape>(p, at, a, r, b.order.next);
  else
    repair<T, T, Shape>(p, at, a, r, b.order.next);
}

template <int BMajor, class Shape>
__device__ __forceinline__ void be_reading(const position &at, const CUtensorMap &map_d,
                                           const CUtensorMap &map_b, const guard::repair_args &r,
                                           const guard::hash_worker &worker, unsigned char *shared,
                                           block_state<Shape> &b)
{
  ptx::cluster_arrive(); // store()'s barrier, without a wait
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0 && at.works)
      fetch<BMajor, Shape>(at, map_d, map_b, ptx::shared_address(shared), b);
    __syncwarp();
  } else {
    wait_for(b.begun, 0);
    struct shunt_fingerprint part = guard::hash_share(r.arrays, worker);
    guard::warp_sum(part, 32);
    if (threadIdx.x % 32 == 0) b.part[worker.warp] = part;
  }
  __syncthreads_or(false);
  ptx::cluster_wait();
  ptx::cluster_arrive_relaxed(); // nobody leaves while the other block reads his memory
  ptx::cluster_wait();
}

template <class Shape>
__device__ __forceinline__ void prepare(const CUtensorMap &map_d, const CUtensorMap &map_b,
                                        const block_state<Shape> &b)
{
  if (threadIdx.x == 0) {
    ptx::tensor_prefetch(&map_d);
    ptx::tensor_prefetch(&map_b);
    prepare_ring<Shape>(b, kMultiplyingWarps);
    ptx::mbarrier_init(ptx::shared_address(&b.begun), 1);
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
}

template <class T, int BMajor, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_dense_wgmma(const __grid_constant__ arguments p, const __grid_constant__ CUtensorMap map_d,
                     const __grid_constant__ CUtensorMap map_b,
                     const __grid_constant__ csr_operands<float> a,
                     const __grid_constant__ guard::repair_args r)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  block_state<Shape> &b = *reinterpret_cast<block_state<Shape> *>(shared + Shape::kRingBytes);
  const int warp = threadIdx.x / 32;
  const position at = find_position<Shape>(p);
  prepare<Shape>(map_d, map_b, b);
  if (warp / 4 == 1 || warp / 4 == 2) {
    wait_for_previous();
    be_multiplying<T, BMajor, Shape>(p, at, a, r, shared, b);
  } else {
    const guard::hash_worker worker = {(int)blockIdx.x, (int)gridDim.x,
                                       warp < 4 ? warp - 1 : warp - 1 - kMultiplyingWarps,
                                       Shape::kHashWarps};
    if (warp > 0) guard::prefetch_share(r.arrays, worker);
    wait_for_previous();
    be_reading<BMajor, Shape>(at, map_d, map_b, r, worker, shared, b);
  }
}

} // namespace dense
} // namespace shunt
