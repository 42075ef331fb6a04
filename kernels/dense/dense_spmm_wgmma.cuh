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
// A tile of C has 64 rows and 64 columns; both warpgroups have all of it, each with every other 64
// of K: two that read all of D would wait for shared memory.  With `split` = 2 or 4 as many blocks,
// a cluster, share a tile, each with its part of K.  How sums are added: dense_spmm_wgmma_sums.cuh.
// A block has one tile, or none: then it hashes only.  It is alone on its multiprocessor.
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
#include "kernels/dense/dense_spmm_wgmma_sums.cuh"
#include "kernels/guard/agreement.cuh"
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"

namespace shunt
{
namespace dense
{

constexpr int kStages = 6, kStageBytes = 4 * kBoxBytes, kRingBytes = kStages * kStageBytes;
constexpr int kColumns = 64; // of a tile
// Threads of a block where much is to be hashed, and where little is: fewer start sooner.
constexpr int kManyThreads = 640, kFewThreads = 384;
constexpr int kMostHashWarps = kManyThreads / 32 - kMultiplyingWarps - 1;
__device__ __forceinline__ int hash_warps()
{
  return (int)blockDim.x / 32 - kMultiplyingWarps - 1;
}

// Behind the ring.
struct block_state {
  float4 exchanged[2][kExchanged], received[kReceived];
  uint64_t full[kStages], empty[kStages], begun, arrived;
  alignas(16) ptx::word_pair at_home; // arrives while the block multiplies
  struct shunt_fingerprint part[kMostHashWarps];
  guard::repair_order order;
};
constexpr int shared_bytes = kRingBytes + sizeof(block_state);

struct ring {
  static constexpr int kStages = dense::kStages;
};

// Where a block stands.
struct position {
  bool works;      // it has a tile
  int row, column; // of C, the tile's first
  int part;        // of K, and of the tile's rows
  int begin, end;  // of its steps through K
};
__device__ __forceinline__ position find_position(const arguments &p)
{
  const int tile = blockIdx.x / p.split;
  position at;
  at.works = tile < p.tiles;
  at.part = blockIdx.x % p.split;
  at.row = tile / p.tiles_across * kRows;
  at.column = tile % p.tiles_across * kColumns;
  at.begin = (int)((int64_t)p.steps * at.part / p.split);
  at.end = (int)((int64_t)p.steps * (at.part + 1) / p.split);
  return at;
}

// ---- fetching --------------------------------------------------------------------------------

// A stage: kDepth of K, from k on.
template <int BMajor>
__device__ __forceinline__ void fetch_step(const position &at, const CUtensorMap &map_d,
                                           const CUtensorMap &map_b, uint32_t to, uint32_t full,
                                           int k)
{
  ptx::mbarrier_arrive_expect(full, kStageBytes);
  for (int piece = 0; piece < 2; piece++)
    ptx::tensor_load_2d(to + piece * kBoxBytes, &map_d, k + piece * 64, at.row, full);
  for (int piece = 0; piece < 2; piece++) {
    const int n = at.column, deep = k + piece * 64;
    ptx::tensor_load_2d(to + (2 + piece) * kBoxBytes, &map_b, BMajor ? n : deep, BMajor ? deep : n,
                        full);
  }
}

// From step `from` of the block on, `steps` of them at most.
template <int BMajor>
__device__ __forceinline__ void fetch(const position &at, const CUtensorMap &map_d,
                                      const CUtensorMap &map_b, uint32_t shared,
                                      const block_state &b, int from, int steps)
{
  ring_place<ring> place;
  for (int i = 0; i < from; i++) place.advance();
  for (int step = at.begin + from; step < at.end && steps > 0; step++, steps--, place.advance()) {
    wait_for(b.empty[place.slot], place.parity ^ 1);
    fetch_step<BMajor>(at, map_d, map_b, shared + place.slot * kStageBytes,
                       ptx::shared_address(&b.full[place.slot]), step * kDepth);
  }
}

// ---- multiplying -----------------------------------------------------------------------------

// Tells that this warp is done with a stage.
__device__ __forceinline__ void release(const block_state &b, int slot)
{
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&b.empty[slot]));
}

// d = the tile's rows of D times its columns of B, over the warpgroup's part of the block's K.
template <class T, int BMajor>
__device__ __forceinline__ void multiply(const position &at, int group, uint32_t shared,
                                         const block_state &b, float (&d)[32])
{
  constexpr uint32_t eight = 1024; // rows of 128 bytes
  const uint64_t of_d = ptx::wgmma_operand(shared + group * kBoxBytes, 0, eight);
  const uint64_t of_b = ptx::wgmma_operand(shared + (2 + group) * kBoxBytes, kBoxBytes, eight);
  ring_place<ring> place;
  int last = 0;
  for (int step = at.begin; step < at.end; step++) {
    const uint32_t stage = place.slot * (kStageBytes >> 4);
    wait_for(b.full[place.slot], place.parity);
    multiply_64<T, BMajor>(d, of_d + stage, of_b + stage, step > at.begin);
    ptx::wgmma_wait<1>();
    if (step > at.begin) release(b, last);
    last = place.slot;
    place.advance();
  }
  ptx::wgmma_wait<0>();
  release(b, last);
}

// ---- storing ---------------------------------------------------------------------------------

// Whether a warp has the row that its block looks at: of the tile's part, or of C.
__device__ __forceinline__ bool looks(const arguments &p, const position &at)
{
  const bool first = (int)threadIdx.x / 32 % 4 == at.part * 4 / p.split && threadIdx.x % 32 < 4;
  return first && (p.trusted || (at.row == 0 && at.part == 0));
}

// The block's part of the tile's rows to C; true: the row that it looks at is not finite.
template <class T>
__device__ __forceinline__ bool store(const arguments &p, const position &at, int group,
                                      block_state &b, float (&d)[16])
{
  if (p.split > 1) {
    ptx::cluster_wait(); // the others are at work
    const uint32_t arrived = ptx::shared_address(&b.arrived);
    if ((int)threadIdx.x / 32 % 4 * p.split / 4 != at.part) {
      send_sums(p.split, at.part, group, ptx::shared_address(b.received), arrived, d);
      return false;
    }
    ptx::mbarrier_wait(arrived, 0);
    add_sums(p.split, at.part, group, b.received, d);
  }
  const float alpha = p.c.alpha.get();
  const bool bad = looks(p, at) && (p.c.wide_sums ? any_nonfinite<float, 32>(d, alpha)
                                                  : any_nonfinite<T, 32>(d, alpha));
  wgmma::store_rows<T, 32>(p.c, d, at.row, at.column + group * 32);
  return bad;
}

// ---- proving ---------------------------------------------------------------------------------

// By one thread, when the whole block is done and its stores were ordered before it by a barrier.
__device__ __forceinline__ void agree_when_stored(const guard::repair_args &r, block_state &b,
                                                  bool alarm, bool flagged)
{
  const struct shunt_fingerprint part = guard::sum_of_warps(b.part, hash_warps());
  __threadfence(); // who hears of this block's arrival may write C
  b.order = guard::agree(r, guard::reports(), b.at_home, part, alarm, flagged);
  if (b.order.needed) __threadfence();
}

// The rows that this block has stored.
template <class S, class Out>
__device__ __noinline__ void repair_own(const arguments &p, const position &at,
                                        const csr_operands<float> &a)
{
  const int rows = kRows / p.split;
  guard::repair_rectangle<S, Out>(a, {at.row + at.part * rows, at.column / 32, rows, kColumns / 32},
                                  threadIdx.x / 32 - 4, kMultiplyingWarps);
}

template <class S, class Out>
__device__ __forceinline__ void repair(const arguments &p, const position &at,
                                       const csr_operands<float> &a, const guard::repair_args &r,
                                       uint32_t *next)
{
  guard::repair_or_own<S, Out>(a, r, next, [&] {
    if (at.works) repair_own<S, Out>(p, at, a);
  });
}

// ---- the two kinds of warps --------------------------------------------------------------------

// group: of warps, in a way that the compiler knows to be the same for all lanes.
template <class T, int BMajor>
__device__ __forceinline__ void
be_multiplying(const arguments &p, const position &at, int group, const csr_operands<float> &a,
               const guard::repair_args &r, unsigned char *shared, block_state &b)
{
  const bool speaks = threadIdx.x == 128;
  bool flagged = false, bad = false;
  if (speaks) {
    if (!p.trusted) guard::ask_for_home(r, &b.at_home);
    flagged = (p.trusted || guard::reports()) && guard::is_flagged(a);
  }
  if (at.works) wait_for(b.full[0], 0);
  if (speaks) ptx::mbarrier_arrive(ptx::shared_address(&b.begun));
  if (at.works) {
    float d[32], sums[16];
    multiply<T, BMajor>(at, group, ptx::shared_address(shared), b, d);
    exchange_sums(b.exchanged, group, d, sums);
    bad = store<T>(p, at, group, b, sums);
  } else if (p.split > 1) {
    ptx::cluster_wait();
  }
  const bool alarm = __syncthreads_or(bad);
  if (speaks && p.trusted) b.order = guard::order_for_own(r, alarm, flagged);
  if (speaks && !p.trusted) agree_when_stored(r, b, alarm, flagged);
  __barrier_sync_count(1, kMultiplying);
  if (!b.order.needed) return;
  if (p.c.wide_sums)
    repair<T, float>(p, at, a, r, b.order.next);
  else
    repair<T, T>(p, at, a, r, b.order.next);
}

template <int BMajor>
__device__ __forceinline__ void
be_reading(const arguments &p, const position &at, const CUtensorMap &map_d,
           const CUtensorMap &map_b, const guard::repair_args &r, const guard::hash_worker &worker,
           unsigned char *shared, block_state &b)
{
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0 && at.works)
      fetch<BMajor>(at, map_d, map_b, ptx::shared_address(shared), b, kStages, INT32_MAX);
    __syncwarp();
  } else {
    wait_for(b.begun, 0);
    struct shunt_fingerprint part = guard::hash_share(r.arrays, worker);
    guard::warp_sum(part, 32);
    if (threadIdx.x % 32 == 0) b.part[worker.warp] = part;
  }
  if (p.split > 1) ptx::cluster_wait();
  __syncthreads_or(false);
}

// The barriers, and what the copy engine can bring at once: by one thread.
template <int BMajor>
__device__ __forceinline__ void begin(const arguments &p, const position &at,
                                      const CUtensorMap &map_d, const CUtensorMap &map_b,
                                      unsigned char *shared, const block_state &b)
{
  ptx::tensor_prefetch(&map_d);
  ptx::tensor_prefetch(&map_b);
  prepare_ring<ring>(b, kMultiplyingWarps);
  ptx::mbarrier_init(ptx::shared_address(&b.begun), 1);
  ptx::mbarrier_init(ptx::shared_address(&b.arrived), 1);
  ptx::mbarrier_init_fence();
  if (p.split > 1)
    ptx::mbarrier_arrive_expect(ptx::shared_address(&b.arrived), bytes_received(p.split));
  wait_for_previous();
  if (at.works) fetch<BMajor>(at, map_d, map_b, ptx::shared_address(shared), b, 0, kStages);
}

template <class T, int BMajor>
__global__ void __launch_bounds__(kManyThreads, 1)
    spmm_dense_wgmma(const __grid_constant__ arguments p, const __grid_constant__ CUtensorMap map_d,
                     const __grid_constant__ CUtensorMap map_b,
                     const __grid_constant__ csr_operands<float> a,
                     const __grid_constant__ guard::repair_args r)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  block_state &b = *reinterpret_cast<block_state *>(shared + kRingBytes);
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  const position at = find_position(p);
  const guard::hash_worker worker = {(int)blockIdx.x, (int)gridDim.x,
                                     warp < 4 ? warp - 1 : warp - 1 - kMultiplyingWarps,
                                     hash_warps()};
  const bool multiplies = warp / 4 == 1 || warp / 4 == 2;
  if (threadIdx.x == 0) begin<BMajor>(p, at, map_d, map_b, shared, b);
  if (!multiplies && warp > 0) guard::prefetch_share(r.arrays, worker);
  __syncthreads();
  if (p.split > 1) ptx::cluster_arrive_relaxed(); // what others send finds its barrier
  wait_for_previous();
  if (multiplies)
    be_multiplying<T, BMajor>(p, at, warp / 4 - 1, a, r, shared, b);
  else
    be_reading<BMajor>(p, at, map_d, map_b, r, worker, shared, b);
}

} // namespace dense
} // namespace shunt
