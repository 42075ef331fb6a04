// spmm_csr_rows_repair.cuh: proves that a dense copy of A still stands for A, and computes C
// row by row if it does not, in one launch.
//
//   every block   hashes its share of A's arrays -- arrives with it -- sum known? -- repairs
//   the last one    (and probes the product, reads `only_if`)               \- else leaves
//
// Each block takes a part of A's fingerprint (fingerprint_parts.cuh) and adds it to one sum
// (arrival.cuh); the block with the highest number has no share, looks at the product's first row
// and at the word only_if instead, and arrives with two alarm bits.  Who sees the sum complete
// knows everything: C is repaired if the hashes are not the expected ones or an alarm is
// set.  By then nobody reads the product any more, so all of C may be written.
//
// Repairing is shared out in pieces of a few strips from a counter.  The block that came last
// takes pieces until none is left.  `helpers` others wait for the sum, for a while, to help:
// mostly they see within a microsecond that there is nothing to do.  A block that waited
// in vain, because others were kept off the device, leaves.  When the table of words is full,
// nothing can be agreed on: then every block computes its part of C unasked.
//
// Before wait_for_previous() A is only prefetched to L2, which is no read.  Hashing it there would
// need that whoever wrote A had finished when the product's kernel began, and cuBLAS does not say
// whether it lets its own kernels in early.  The next kernel in the stream is not let in early
// either: whoever follows a call finds C finished.
//
// Cost where nothing is to be done: the arrays at copy bandwidth, and behind the last block's
// part one atomic and one look at the sum.
#pragma once
#include "kernels/arrival.cuh"
#include "kernels/early_launch.cuh"
#include "kernels/fingerprint_parts.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/spmm_csr_rows_guarded.cuh"

namespace shunt
{
namespace spmm_rows
{

// What thread 0 tells the block: whether to repair, and the counter of pieces (NULL: every
// block knows its pieces).
struct repair_order {
  bool needed;
  uint32_t *next;
};

// To whom it concerns, by one thread of the grid.
__device__ __forceinline__ void tell(const repair_args &r, bool needed, bool changed,
                                     bool nonfinite)
{
  if (r.verdict) *r.verdict = needed;
  if (changed && r.changed) *(volatile uint32_t *)r.changed = 1;
  if (nonfinite && !changed && r.nonfinite) *(volatile uint32_t *)r.nonfinite = 1;
}

// Thread 0 of each block; alarm: what the probe said, in the block that probes.
__device__ __forceinline__ repair_order judge(const repair_args &r, const uint32_t *only_if,
                                              ptx::word_pair at_home, struct shunt_fingerprint part,
                                              bool alarm)
{
  const bool probes = blockIdx.x == gridDim.x - 1;
  const arrival_place place = find_place(r.table, at_home);
  if (!place.set) {
    if (probes) tell(r, true, true, false);
    return {true, nullptr};
  }
  struct shunt_fingerprint expected = {0, 0};
  if (r.expected) expected = *r.expected;
  const bool flagged = probes && only_if && *only_if != 0;
  const bool last = arrive(place, part, alarm, flagged, gridDim.x);
  arrival_sum sum;
  const int64_t cycles = (int)blockIdx.x < r.helpers ? r.wait_cycles : 0;
  if (!wait_for_all(place, gridDim.x, last, cycles, &sum)) return {false, nullptr};

  const bool changed = r.expected && !same_hashes(sum, expected);
  const bool nonfinite = sum.lo & arrival_alarm;
  const bool needed = changed || nonfinite || (sum.hi & arrival_alarm);
  if (last) {
    tell(r, needed, changed, nonfinite);
    pass_on(place);
  }
  return {needed, place.next()};
}

// Piece p is strips [p piece, (p + 1) piece) of all rows' strips, one row after another.
template <class S, class Out, class T>
__device__ __noinline__ void repair(const args<T> &a, const repair_args &r, uint32_t *next)
{
  const T alpha = a.alpha.get(), beta = a.beta.get();
  const int64_t strips = (a.n + 31) / 32, all = a.rows * strips;
  uint32_t own = blockIdx.x * hash_warps + threadIdx.x / 32;
  for (;;) {
    uint32_t p = own;
    if (next) {
      if (threadIdx.x % 32 == 0) p = ptx::add_relaxed(next, 1);
      p = __shfl_sync(0xffffffffu, p, 0);
    }
    own += gridDim.x * hash_warps;
    const int64_t begin = p * r.piece, end = begin + r.piece < all ? begin + r.piece : all;
    if (begin >= all) return;
    for (int64_t w = begin; w < end; w++)
      multiply_strip<S, Out, T>(a, w / strips, w % strips, alpha, beta);
  }
}

template <class S, class Out, class T>
__global__ void __launch_bounds__(hash_threads, hash_blocks_per_multiprocessor)
    spmm_csr_rows_repair(const __grid_constant__ args<T> a, const __grid_constant__ repair_args r)
{
  __shared__ repair_order order;
  __shared__ alignas(16) ptx::word_pair at_home; // arrives while the block hashes
  const int shares = gridDim.x > 1 ? gridDim.x - 1 : 1;
  const bool probes = blockIdx.x == gridDim.x - 1;
  struct shunt_fingerprint part = {0, 0};

  prefetch_share(r.arrays, blockIdx.x, shares);
  wait_for_previous();
  if (threadIdx.x == 0) {
    ptx::cp_async_16(ptx::shared_address(&at_home), &r.table.sets[r.table.home]);
    ptx::cp_async_commit();
  }
  if ((int)blockIdx.x < shares) part = hash_share(r.arrays, blockIdx.x, shares);
  const bool alarm = probes && probe_fails(r.probe);
  part = block_sum(part);
  if (threadIdx.x == 0) {
    ptx::cp_async_wait<0>();
    order = judge(r, a.only_if, at_home, part, alarm);
  }
  __syncthreads();
  if (order.needed) repair<S, Out>(a, r, order.next);
}

} // namespace spmm_rows
} // namespace shunt
