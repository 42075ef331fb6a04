// repair.cuh: proves that a dense copy of A still stands for A, and computes C
// row by row if it does not, in one launch.
//
//   every block   hashes its share of A's arrays -- arrives with it -- sum known? -- repairs
//   the last one    (and probes the product, reads `only_if`)               \- else leaves
//
// Each block takes a part of A's fingerprint (fingerprint_parts.cuh) and adds it to one sum
// (words.cuh); the block with the highest number has no share, looks at the product's first row and
// at the word only_if instead, and arrives with two alarm bits.  A block that sees the complete sum
// knows the outcome: C is repaired if the hashes are not the expected ones or an alarm is set.  By
// then nobody reads the product any more, so all of C may be written.
//
// How they agree and share the repair: agreement.cuh.
//
// When A may be hashed.  There are two ways:
//
//   behind the product   before wait_for_previous() A is only prefetched to L2, which is no read.
//                        The kernel that writes A might still run: cuBLAS does not say whether it
//                        lets its own kernels in early
//   beside it (Overlaps) at once.  For products that waited for all work before them, where this
//                        launch may begin before they end: in a graph
//                        (backend/plan/graph_overlap.h), or because the product's kernel is one of
//                        Shunt's that lets it in
//
// Beside a product, some blocks find a multiprocessor that it leaves free, and the others come when
// it has ended.  So shares are taken from a queue, and the product is waited for before the probe,
// and before C is touched.
//
//   multiprocessors   product ............ |
//   left free         hash, hash, hash ..  | hash
//   the others        ...................  | hash
//
// Cost where nothing has to be repaired: A's arrays read at copy bandwidth, less what was hashed
// beside the product, then one atomic and one look at the sum.
//
// The next kernel in the stream is not let in early, so that it finds C finished.
#pragma once
#include "kernels/guard/agreement.cuh"

namespace shunt
{
namespace guard
{

// Where the launch may have begun before the product's end: the arrays' tiles in a queue, its first
// chunk taken.  Without a set nothing counts but that C is repaired.
__device__ __forceinline__ hash_queue *open_queue(const repair_args &r,
                                                  const ptx::word_pair &at_home)
{
  __shared__ hash_queue queue;
  if (threadIdx.x == 0) {
    ptx::cp_async_wait<0>();
    const word_place place = find_place(r.table, at_home);
    queue.chunks = place.set ? hash_chunks(r.arrays) : 0;
    queue.taken = place.set ? place.taken() : nullptr;
    queue.mine[0] = place.set ? ptx::add_relaxed(queue.taken, 1) : 0;
  }
  __syncthreads();
  return &queue;
}

template <class S, class Out, class T, bool Overlaps>
__global__ void __launch_bounds__(hash_threads, hash_blocks_per_multiprocessor)
    spmm_repair(const __grid_constant__ csr_operands<T> a, const __grid_constant__ repair_args r)
{
  __shared__ repair_order order;
  __shared__ alignas(16) ptx::word_pair at_home; // arrives while the block hashes
  const bool probes = reports();
  const int shares = gridDim.x > 1 ? gridDim.x - 1 : 1;
  const bool hashes = (int)blockIdx.x < shares;
  struct shunt_fingerprint part = {0, 0};
  if constexpr (Overlaps) {
    if (threadIdx.x == 0) ask_for_home(r, &at_home);
    if (hashes) part = hash_queued(r.arrays, open_queue(r, at_home));
    if (probes) wait_for_previous();
  } else {
    const hash_worker worker = worker_of(blockIdx.x, shares);
    prefetch_share(r.arrays, worker);
    wait_for_previous();
    if (threadIdx.x == 0) ask_for_home(r, &at_home);
    if (hashes) part = hash_share(r.arrays, worker);
  }
  const bool alarm = probes && probe_fails(r.probe);
  part = block_sum(part);
  if (threadIdx.x == 0) {
    ptx::cp_async_wait<0>();
    const bool flagged = probes && is_flagged(a);
    order = agree(r, probes, at_home, part, alarm, flagged);
  }
  __syncthreads();
  if (!order.needed) return;
  if (Overlaps) wait_for_previous(); // before C is touched, by every thread that does
  repair<S, Out>(a, r, order.next, blockIdx.x * hash_warps + threadIdx.x / 32,
                 gridDim.x * hash_warps);
}

} // namespace guard
} // namespace shunt
