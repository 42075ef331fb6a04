// spmm_vector_proved.cuh: spmm_vector_direct, and in the same launch the proof that the packed copy
// still stands for A.
//
//   warps 0 .. 7    multiply and store as spmm_vector_direct.cuh says
//   all others      hash the block's share of A's arrays at once, and arrive with it; by the time
//                   that C is stored they mostly know whether it stands (spmm_csr_rows_judge.cuh)
//
// A block has every so manieth of all pieces of work (blocks of spmm_vector_direct.cuh), so that
// all are at work at one time if they have the device for themselves.  They need not be, as no
// block waits for others before it has stored:
//
//   block    hash, arrive ... sum complete?  stands:      leave
//            multiply, store                 not known:   tell that C is stored, leave
//                                            it changed:  tell, wait until all have told, repair
//
// The last to arrive knows always.  (A block for each piece was 0.9 us slower for two rounds of
// them, 2.5 for four: those of the first rounds cannot know, and to tell takes a fence.)
//
// No witness: a sum that became NaN is computed again from A's entries as it is stored.
#pragma once
#include "kernels/early_launch.cuh"
#include "kernels/fingerprint_parts.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/spmm_csr_rows_judge.cuh"
#include "kernels/spmm_vector_direct.cuh"

namespace shunt
{
namespace vector
{

constexpr int kHashBarrier = 1 + kDirectWarps / 2; // behind those of the slices

// Registers of two blocks decide how many warps hash.
template <class Shape> constexpr int hash_warps_of = Shape::kTile == 128 ? 2 : 4;
template <class Shape> constexpr int proved_threads = (kDirectWarps + hash_warps_of<Shape>)*32;

// What the kernel is told beside the product.  Pieces of work; those of a column of them.
struct proof {
  spmm_rows::args<float> a;
  spmm_rows::repair_args r;
  int pieces, down;
};

// In shared memory.
template <int HashWarps> struct proof_board {
  alignas(16) ptx::word_pair at_home; // arrives while the block hashes
  struct shunt_fingerprint part[HashWarps];
  spmm_rows::repair_order order;
  arrival_place place;
};

// By the warps that hash.
template <int HashWarps>
__device__ __forceinline__ void prove(const proof &f, proof_board<HashWarps> &b)
{
  const int warp = threadIdx.x / 32 - kDirectWarps;
  const bool judges = warp == 0 && threadIdx.x % 32 == 0;
  const bool speaks = blockIdx.x == gridDim.x - 1;
  const hash_worker worker = {(int)blockIdx.x, (int)gridDim.x, warp, HashWarps};
  bool flagged = false;

  prefetch_share(f.r.arrays, worker);
  wait_for_previous();
  if (judges) {
    ptx::cp_async_16(ptx::shared_address(&b.at_home), &f.r.table.sets[f.r.table.home]);
    ptx::cp_async_commit();
    flagged = speaks && f.a.only_if && *f.a.only_if != 0;
  }
  struct shunt_fingerprint part = hash_share(f.r.arrays, worker);
  warp_sum(part, 32);
  if (threadIdx.x % 32 == 0) b.part[warp] = part;
  __barrier_sync_count(kHashBarrier, HashWarps * 32);
  if (!judges) return;
  part = b.part[0];
  for (int i = 1; i < HashWarps; i++)
    shunt_fp_add(&part, b.part[i]);
  ptx::cp_async_wait<0>();
  b.order = spmm_rows::judge(f.r, speaks, b.at_home, part, false, flagged, &b.place);
}

// By all threads, when their warps have done their part.  False: C stands, or others see to it.
template <int HashWarps>
__device__ __forceinline__ bool is_to_repair(const proof_board<HashWarps> &b)
{
  __syncthreads();                  // stored, and judged
  if (b.order.stands) return false; // as every block finds: nobody waits for us
  if (threadIdx.x == 0) {
    spmm_rows::tell_stored(b.place);
    if (b.order.needed) spmm_rows::wait_for_stores(b.place, gridDim.x);
  }
  if (!b.order.needed) return false;
  __syncthreads();
  return true;
}

// Nothing could be agreed on: the rows that this block has stored, which no other writes.
template <class T, class Out, class Shape>
__device__ __noinline__ void repair_own(const arguments &p, const proof &f)
{
  constexpr int kStrips = Shape::kTile / 32;
  const float alpha = f.a.alpha.get();
  const int rows = (kDirectWarps >> p.log2_slices) * kGroup;
  for (int i = blockIdx.x; i < f.pieces; i += gridDim.x)
    for (int w = threadIdx.x / 32; w < rows * kStrips; w += proved_threads<Shape> / 32) {
      const int place = i % f.down * rows + w / kStrips;
      const int64_t strip = i / f.down * kStrips + w % kStrips;
      if (place >= p.rows || strip * 32 >= p.n) continue;
      const int64_t row = p.row_of ? __ldg(p.row_of + place) : place;
      spmm_rows::multiply_strip<T, Out>(f.a, row, strip, alpha, 0.0f);
    }
}

template <class T, class Out, class Shape>
__global__ void __launch_bounds__(proved_threads<Shape>, 2)
    spmm_vector_proved(const __grid_constant__ arguments p, const __grid_constant__ proof f)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ proof_board<hash_warps_of<Shape>> b;
  if (threadIdx.x < kDirectWarps * 32) {
    wait_for_previous();
    for (int i = blockIdx.x; i < f.pieces; i += gridDim.x) {
      multiply_groups_of<T, Out, Shape>(p, shared, i % f.down, i / f.down * Shape::kTile);
      slices_barrier(p); // the images are read
    }
  } else {
    prove(f, b);
  }
  if (!is_to_repair(b)) return;
  if (b.order.next)
    spmm_rows::repair<T, Out>(f.a, f.r, b.order.next, 0, 0);
  else
    repair_own<T, Out, Shape>(p, f);
}

} // namespace vector
} // namespace shunt
