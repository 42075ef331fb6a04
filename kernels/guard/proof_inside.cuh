// proof_inside.cuh: the proof that a kept copy still stands for A, in the launch of the product that
// it is multiplied in; for kernels whose blocks have warps to spare (kernels/vector/vector_packed_spmm_proved.cuh,
// kernels/tile/tile_spmm_proved.cuh).
//
//   warps 0 .. Warps - 1   multiply and store
//   HashWarps others       hash the block's share of A's arrays at once, and arrive with it; by the
//                          time that C is stored they mostly know whether it stands
//                          (agreement.cuh)
//
// A block has every so manieth of all pieces of work, so that all are at work at one time if they
// have the device for themselves.  They need not be, as no block waits for others before it has
// stored:
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
#include "kernels/common/early_launch.cuh"
#include "kernels/guard/agreement.cuh"
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/ptx/ldst.cuh"

namespace shunt
{
namespace proved
{

// What a kernel is told beside the product.
struct proof {
  csr::args<float> a;
  csr::repair_args r;
  int pieces; // of work, of all blocks together
  bool
      brief; // the next kernel may come in when the blocks have hashed: they have little else to do
};

// The warps of a block.  Barrier: one of the hardware's that the product has no use for.
template <int Warps, int HashWarps, int Barrier> struct team {
  static constexpr int kWarps = Warps, kHashWarps = HashWarps, kBarrier = Barrier;
  static constexpr int kThreads = (Warps + HashWarps) * 32;
};

// In shared memory.
template <class Team> struct board {
  alignas(16) ptx::word_pair at_home; // arrives while the block hashes
  struct shunt_fingerprint part[Team::kHashWarps];
  csr::repair_order order;
  arrival_place place;
};

// By the warps that hash.
template <class Team> __device__ __forceinline__ void prove(const proof &f, board<Team> &b)
{
  const int warp = threadIdx.x / 32 - Team::kWarps;
  const bool judges = warp == 0 && threadIdx.x % 32 == 0;
  const bool speaks = blockIdx.x == gridDim.x - 1;
  const hash_worker worker = {(int)blockIdx.x, (int)gridDim.x, warp, Team::kHashWarps};
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
  __barrier_sync_count(Team::kBarrier, Team::kHashWarps * 32);
  if (f.brief) let_next_in();
  if (!judges) return;
  part = b.part[0];
  for (int i = 1; i < Team::kHashWarps; i++) shunt_fp_add(&part, b.part[i]);
  ptx::cp_async_wait<0>();
  b.order = csr::judge(f.r, speaks, b.at_home, part, false, flagged, &b.place);
}

// By all threads, when their warps have done their part.  False: C stands, or others see to it.
template <class Team> __device__ __forceinline__ bool is_to_repair(const board<Team> &b)
{
  __syncthreads();                  // stored, and judged
  if (b.order.stands) return false; // as every block finds: nobody waits for us
  if (threadIdx.x == 0) {
    csr::tell_stored(b.place);
    if (b.order.needed) csr::wait_for_stores(b.place, gridDim.x);
  }
  if (!b.order.needed) return false;
  __syncthreads();
  return true;
}

} // namespace proved
} // namespace shunt
