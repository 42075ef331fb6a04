// agreement.cuh: how the blocks of a launch agree whether C is to be computed row by
// row, and share that work; for all kernels that prove that a packed copy of A still stands for A
// (repair.cuh, proof_inside.cuh, kernels/dense/dense_spmm_wgmma.cuh and others).
//
// Each block adds its part of A's fingerprint and its alarms to a sum.  A block that sees the
// complete sum knows the outcome: C is repaired if the hashes are not the expected ones or an alarm
// is set.
//
// The repair is cut into pieces of a few strips, which blocks take from a counter.  The block that
// came last takes pieces until none is left.  `helpers` other blocks wait for the sum for a while,
// in order to help; mostly they see within a microsecond that there is nothing to do.  A block that
// has waited in vain, because other blocks have not been scheduled, leaves.  When the table of
// words is full there is no sum: then every block computes its part of C.
//
// In a block one thread, the speaker, does this for all:
//
//   ask_for_home    before the block hashes: its place in the table is on its way meanwhile
//   agree           when all warps of the block have told what they found
//   is_to_repair    all threads, where the block multiplies, too, and its C is stored
//   repair_or_own   all warps that repair, where C is to be repaired
//
// Where A cannot have changed (repair_args.expected is NULL), a block that has stored rows of C knows
// by these alone: a NaN or Inf in B shows in each row (probe.cuh).  It asks nobody, and repairs its
// own (order_for_own).
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/guard/repair_args.cuh"
#include "kernels/guard/row_by_row.cuh"
#include "kernels/ptx/gpu_scope.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"

namespace shunt
{
namespace guard
{

// What the speaker tells its block: whether to repair, and the counter of pieces (NULL: every block
// knows its pieces).
struct repair_order {
  bool needed;
  uint32_t *next;
  bool stands; // the sum is complete, and speaks for C: then so do all who see it
};

// By the speaker.  at_home: in shared memory, of 16 bytes; there when its copies are
// (cp_async_wait).
__device__ __forceinline__ void ask_for_home(const repair_args &r, ptx::word_pair *at_home)
{
  ptx::cp_async_16(ptx::shared_address(at_home), &r.table.sets[r.table.home]);
  ptx::cp_async_commit();
}

template <class T> __device__ __forceinline__ bool is_flagged(const csr_operands<T> &a)
{
  return a.only_if && *a.only_if != 0;
}

// Whether the block is the one of the grid that reports to the host, and looks for what one has to
// look for.
__device__ __forceinline__ bool reports()
{
  return blockIdx.x == gridDim.x - 1;
}

// Where blocks agree while they still store: each tells that it has stored, and a block that
// repairs waits for all.  They are counted in the word of what is taken before the arrival
// (words.cuh), which such launches do not use otherwise.  By the speaker, behind a barrier that
// orders the block's stores before it.
__device__ __forceinline__ void tell_stored(const word_place &place)
{
  __threadfence();
  if (place.set) ptx::add_relaxed(place.taken(), 1);
}
// All blocks have arrived, so each is at work and waits for nobody before it has told.
__device__ __forceinline__ void wait_for_stores(const word_place &place, uint32_t blocks)
{
  if (!place.set) return;
  while (ptx::add_relaxed(place.taken(), 0) < blocks) __nanosleep(40);
  __threadfence();
}

// To the host, and to the kernels behind, by one thread of the grid.
// changed: 0, or what is said of A.
__device__ __forceinline__ void tell(const repair_args &r, bool needed, uint32_t changed,
                                     bool nonfinite)
{
  if (r.repaired) *r.repaired = needed;
  if (changed && r.changed) *(volatile uint32_t *)r.changed = changed;
  if (nonfinite && !changed && r.nonfinite) *(volatile uint32_t *)r.nonfinite = 1;
}

// By the speaker of each block, with what its block has found: its part of the fingerprint, a NaN
// or Inf in the first row, the flag of irregular rows.  reporting: in one block of the grid.
// found: the launch's place, for those who ask.
__device__ __forceinline__ repair_order agree(const repair_args &r, bool reporting,
                                              ptx::word_pair at_home, struct shunt_fingerprint part,
                                              bool alarm, bool flagged, word_place *found = nullptr)
{
  const word_place place = find_place(r.table, at_home);
  if (found) *found = place;
  if (!place.set) {
    if (reporting) tell(r, true, SHUNT_GUARD_NO_SET, false);
    return {true, nullptr, false};
  }
  struct shunt_fingerprint expected = {0, 0};
  if (r.expected) expected = *r.expected;
  word_sum sum;
  const bool last = arrive(place, part, alarm, flagged, gridDim.x, &sum);
  if (r.start != SHUNT_GUARD_BEHIND)
    wait_for_previous(); // the others may still stand behind the product
  const int64_t cycles = (int)blockIdx.x < r.helpers ? r.wait_cycles : 0;
  if (!wait_for_all(place, gridDim.x, last, cycles, &sum)) return {false, nullptr, false};

  const bool changed = r.expected && !same_hashes(sum, expected);
  const bool nonfinite = sum.lo & word_alarm;
  const bool needed = changed || nonfinite || (sum.hi & word_alarm);
  if (last) {
    tell(r, needed, changed ? SHUNT_GUARD_CHANGED : 0, nonfinite);
    pass_on(place);
  }
  return {needed, place.next(), !needed};
}

// The order of a block that repairs its own rows, or does not.  alarm: one of these is not finite.
// By the speaker, behind a barrier that orders the block's stores before it.
__device__ __forceinline__ repair_order order_for_own(const repair_args &r, bool alarm,
                                                      bool flagged)
{
  if (alarm && r.nonfinite) *(volatile uint32_t *)r.nonfinite = 1;
  return {alarm || flagged, nullptr, !alarm && !flagged};
}

// By the speaker: the parts that the first `warps` warps of its block have found, added up.  What
// ask_for_home() asked for has come, too.
template <int Most>
__device__ __forceinline__ struct shunt_fingerprint
sum_of_warps(const struct shunt_fingerprint (&part)[Most], int warps = Most)
{
  struct shunt_fingerprint sum = {0, 0};
  for (int i = 0; i < warps; i++) shunt_fp_add(&sum, part[i]);
  ptx::cp_async_wait<0>();
  return sum;
}

// By the speaker of a block that still stores: waits at state.found until all warps have written
// their parts and state.alarm, and agrees.
template <class State>
__device__ __forceinline__ void agree_for_block(const repair_args &r, State &state, int warps,
                                                bool flagged)
{
  ptx::mbarrier_wait(ptx::shared_address(&state.found), 0);
  const struct shunt_fingerprint part = sum_of_warps(state.part, warps);
  state.order = agree(r, reports(), state.at_home, part, state.alarm, flagged, &state.place);
}

// By all threads of a block whose `state` holds order and place, when their warps have done their
// part.  False: C stands, or others see to it.
template <class State> __device__ __forceinline__ bool is_to_repair(const State &state, bool speaks)
{
  __syncthreads();                      // stored, and agreed
  if (state.order.stands) return false; // as every block finds: nobody waits for us
  if (speaks) {
    tell_stored(state.place);
    if (state.order.needed) wait_for_stores(state.place, gridDim.x);
  }
  if (!state.order.needed) return false;
  __syncthreads();
  return true;
}

// Piece p is strips [p piece, (p + 1) piece) of all rows' strips, one row after another.  By a
// warp, number `own` of the grid's `warps`.
template <class S, class Out, class T>
__device__ __noinline__ void repair(const csr_operands<T> &a, const repair_args &r, uint32_t *next,
                                    uint32_t own, uint32_t warps)
{
  const T alpha = a.alpha.get(), beta = a.beta.get();
  const int64_t strips = (a.n + 31) / 32, all = a.rows * strips;
  for (;;) {
    uint32_t p = own;
    if (next) {
      if (threadIdx.x % 32 == 0) p = ptx::add_relaxed(next, 1);
      p = __shfl_sync(0xffffffffu, p, 0);
    }
    own += warps;
    const int64_t begin = p * r.piece, end = begin + r.piece < all ? begin + r.piece : all;
    if (begin >= all) return;
    for (int64_t w = begin; w < end; w++)
      multiply_strip<S, Out, T>(a, w / strips, w % strips, alpha, beta);
  }
}

// Where nothing could be agreed on, each block repairs what it has stored, which no other writes:
// own().
template <class S, class Out, class T, class Own>
__device__ __forceinline__ void repair_or_own(const csr_operands<T> &a, const repair_args &r,
                                              uint32_t *next, const Own &own)
{
  if (next)
    repair<S, Out, T>(a, r, next, 0, 0);
  else
    own();
}

// A block's part of C: rows [row, row + rows), strips [strip, strip + strips), as far as C goes.
struct rectangle {
  int64_t row, strip;
  int rows, strips;
};
// By warp number `warp` of `warps`.
template <class S, class Out, class T>
__device__ __forceinline__ void repair_rectangle(const csr_operands<T> &a, const rectangle &part,
                                                 int warp, int warps)
{
  const T alpha = a.alpha.get(), beta = a.beta.get();
  for (int w = warp; w < part.rows * part.strips; w += warps) {
    const int64_t row = part.row + w / part.strips, strip = part.strip + w % part.strips;
    if (row < a.rows && strip * 32 < a.n) multiply_strip<S, Out, T>(a, row, strip, alpha, beta);
  }
}

} // namespace guard
} // namespace shunt
