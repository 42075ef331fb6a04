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
// How they agree and share the repair: spmm_csr_rows_judge.cuh.
//
// Before wait_for_previous() A is only prefetched to L2, which is no read.  Hashing it there
// needs that whoever wrote A had finished when the product's kernel began, and cuBLAS does not say
// whether it lets its own kernels in early.  Kernels of our own do say (`beside`): behind them A is
// hashed by blocks that come in while the product's last ones still run.  The next kernel in the stream is not let in early
// either: whoever follows a call finds C finished.
//
// Cost where nothing is to be done: the arrays at copy bandwidth, and behind the last block's
// part one atomic and one look at the sum.
#pragma once
#include "kernels/early_launch.cuh"
#include "kernels/fingerprint_parts.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/spmm_csr_rows_judge.cuh"

namespace shunt
{
namespace spmm_rows
{

// Begins to bring the words of the call's own set, by one thread.
__device__ __forceinline__ void fetch_home(const arrival_table &table, ptx::word_pair *to)
{
  if (threadIdx.x != 0) return;
  ptx::cp_async_16(ptx::shared_address(to), &table.sets[table.home]);
  ptx::cp_async_commit();
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
  const hash_worker worker = worker_of(blockIdx.x, shares);

  if (!r.beside) {
    prefetch_share(r.arrays, worker);
    wait_for_previous();
    fetch_home(r.table, &at_home);
  }
  if ((int)blockIdx.x < shares) part = hash_share(r.arrays, worker);
  if (r.beside) {
    wait_for_previous();
    fetch_home(r.table, &at_home);
  }
  const bool alarm = probes && probe_fails(r.probe);
  part = block_sum(part);
  if (threadIdx.x == 0) {
    ptx::cp_async_wait<0>();
    const bool flagged = probes && a.only_if && *a.only_if != 0;
    order = judge(r, probes, at_home, part, alarm, flagged);
  }
  __syncthreads();
  if (order.needed)
    repair<S, Out>(a, r, order.next, blockIdx.x * hash_warps + threadIdx.x / 32,
                   gridDim.x * hash_warps);
}

} // namespace spmm_rows
} // namespace shunt
