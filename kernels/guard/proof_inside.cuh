// proof_inside.cuh: the proof that a packed copy still stands for A, in the launch of the product
// that it is multiplied in; for kernels whose blocks have warps to spare
// (kernels/vector/vector_packed_spmm_proved.cuh, kernels/tile/tile_spmm_proved.cuh,
// kernels/srbcrs/srbcrs_spmm_proved.cuh).
//
//   warps 0 .. Warps - 1   multiply and store
//   HashWarps others       hash the block's share of A's arrays at once, and arrive with it; by the
//                          time that C is stored they mostly know whether it stands
//                          (agreement.cuh)
//
// Where registers leave room for no others, all warps hash before they multiply, and one of them
// speaks (kernels/srbcrs/srbcrs_spmm_strips_proved.cuh, whose team has no others).
//
// There are as many blocks as the device holds, and each takes its share of the pieces of work, so
// that all run at one time if nothing else does.  They need not: no block waits for others before
// it has stored.
//
//   block    hash, arrive ... sum complete?  stands:      leave
//            multiply, store                 not known:   tell that C is stored, leave
//                                            it changed:  tell, wait until all have told, repair
//
// The last to arrive always knows.  (A block for each piece of work is slower, by 0.9 us where they
// make two rounds and by 2.5 where they make four: blocks of the first rounds leave before the sum
// is complete, so each has to tell that it has stored, which takes a fence.)
//
// Nothing is probed: a sum that became NaN is computed again from A's entries as it is stored, and
// integers have none.
#pragma once
#include "kernels/guard/agreement.cuh"

namespace shunt
{
namespace guard
{

// What a kernel is told beside the product; T: what is computed in.
template <class T> struct proof_in {
  csr_operands<T> a;
  repair_args r;
  int pieces; // of work, of all blocks together
  bool brief; // the next kernel may come in when blocks have hashed: they have little else to do
};
using proof = proof_in<float>;

// The warps of a block.
template <int Warps, int HashWarps> struct team {
  static constexpr int kWarps = Warps, kHashWarps = HashWarps;
  static constexpr int kThreads = (Warps + HashWarps) * 32;
};

// What a block's warps tell each other, in shared memory.
template <class Team> struct proof_state {
  alignas(16) ptx::word_pair at_home; // arrives while the block hashes
  uint64_t found;                     // barrier: all that hash have written their parts
  struct shunt_fingerprint part[Team::kHashWarps];
  repair_order order;
  word_place place;
};

// By all threads, before anything else of this.
template <class Team> __device__ __forceinline__ void open_proof(proof_state<Team> &b)
{
  if (threadIdx.x == 0) ptx::mbarrier_init(ptx::shared_address(&b.found), Team::kHashWarps);
  __syncthreads();
}

// By warp number `warp` of those that hash, of which 0 speaks: what it has found to b.  True: the
// matrix is flagged, as the speaker of one block sees.
template <class T, class Team>
__device__ __forceinline__ bool hash_own(const proof_in<T> &f, proof_state<Team> &b, int warp)
{
  const bool speaks = warp == 0 && threadIdx.x % 32 == 0;
  const hash_worker worker = {(int)blockIdx.x, (int)gridDim.x, warp, Team::kHashWarps};
  bool flagged = false;

  prefetch_share(f.r.arrays, worker);
  wait_for_previous();
  if (speaks) {
    ask_for_home(f.r, &b.at_home);
    flagged = reports() && is_flagged(f.a);
  }
  struct shunt_fingerprint part = hash_share(f.r.arrays, worker);
  warp_sum(part, 32);
  if (threadIdx.x % 32 == 0) {
    b.part[warp] = part;
    ptx::mbarrier_arrive(ptx::shared_address(&b.found));
  }
  return flagged;
}
// By the speaker, then.
template <class T, class Team>
__device__ __forceinline__ void agree_on_found(const proof_in<T> &f, proof_state<Team> &b,
                                               bool flagged)
{
  ptx::mbarrier_wait(ptx::shared_address(&b.found), 0);
  const struct shunt_fingerprint part = sum_of_warps(b.part);
  b.order = agree(f.r, reports(), b.at_home, part, false, flagged, &b.place);
}

// By the warps that hash.
template <class T, class Team>
__device__ __forceinline__ void prove(const proof_in<T> &f, proof_state<Team> &b)
{
  const int warp = threadIdx.x / 32 - Team::kWarps;
  const bool flagged = hash_own(f, b, warp);
  if (f.brief) let_next_in();
  if (warp == 0 && threadIdx.x % 32 == 0) agree_on_found(f, b, flagged);
}

} // namespace guard
} // namespace shunt
