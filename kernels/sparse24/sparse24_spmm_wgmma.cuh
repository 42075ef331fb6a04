// sparse24_spmm_wgmma.cuh: C = alpha A B with A in the `sparse24` format, by wgmma.sp, and in the
// same launch the proof that the copy still stands for A.
//
// Or A's values are read in place, from the caller's array, where its rows are those of the packed
// values; then only A's pattern is proved.
//
// A block has tiles of C of 128 rows x kColumns columns, and walks K in chunks of 64:
//
//   warps 0 .. 7    two warpgroups, 64 rows each, multiply   ring -> wgmma.sp -> registers -> C
//   warp  8         tells the copy engine what to bring      A's tiles, B -> ring in shared memory
//   warps 9 ..      take the block's share of A's fingerprint  A's arrays -> registers
//   meanwhile       when all is multiplied and hashed, and the last tile still being stored, one
//                   thread arrives with the block's part of the fingerprint, and whether a sum
//                   became NaN; a block that sees the sum complete knows whether C stands or is
//                   computed row by row (kernels/guard/agreement.cuh), once all blocks have stored
//
//   ring, one of kStages:  | B: 64 columns x 64 of K | B: next 64 | .. | A: 64 rows | 64 rows |
//                            8 KB each, rows of 128 bytes, swizzled       4608 bytes each
//   (int8: 128 of K, B by columns only; 5120 bytes)
//   values in place: A has a ring for itself, since rows of 128 bytes are two chunks
//                          | values: 128 rows | metadata: 64 rows | 64 rows | of the second chunk |
//
// Three warps that hash are all that registers leave beside products of 256 columns: the compiler
// gives 384 threads 168 each, more threads fewer than such a product names (setmaxnreg does not
// change that).  Beside products of 128 columns there are seven, also where a tile takes two of
// them, which read A twice.
//
// full, empty: barriers of a stage; the copy engine has brought it, all warps are done with it.
// B row-major is the MN-major operand, column-major the K-major one (ptx/wgmma.cuh).
//
// Tiles of C are dealt out to as many blocks as there are multiprocessors, in panels of kPanel
// columns so that blocks at work at one time share rows and columns that lie in L2:
//
//   panel 0:  | 0 1 2 .. 7 |   panel 1:  | .. |
//             | 8 9 ..     |
//
// Zeros that fill A up turn a NaN or Inf of B into NaN where A has no entry: so a NaN among the
// sums is an alarm.  Where the product goes to W, a repair writes C all the same.
//
// Where every quad is full, A's columns are compared with the copy's (sparse24_columns.cuh), which
// is less work than a hash; and blocks that have fewer tiles of C than others then take more of
// them, by all their warps before they multiply.
//
// Bound, 128 columns: a multiprocessor takes 64 bytes a cycle from L2.  4096 x 4096 x 512 has
// 128 tiles, each of 1.64 MB, and 0.38 MB of A's arrays a block: 31,600 cycles, 17.8 us at 1.77
// GHz; measured 19 until the last product.  256 columns: a product of 64 x 256 x 32 reads B's 16 KB
// and A's 2 KB from shared memory, 144 cycles at 128 bytes a cycle (128 for its multiplications
// alone, twice those of wgmma): 41 us at 4096x4096x2048 and 1.75 GHz.  Measured: 144 cycles alone,
// 60 us as a kernel: the copy engine writes a chunk in 328 cycles more, 904 in all, and 884 are
// measured.  Two products of 128 columns: 640 + 328, measured 1000.  A from registers takes 128
// alone, but brought there past shared memory 10 to 15 % longer in all.  Clusters that share B are
// no faster.  Values in place take as long as the copy's, and hashing a third less.  Figures:
// tests/bench/sparse24.md.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/registers.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/sparse24/sparse24_spmm_wgmma_fetch.cuh"
#include "kernels/sparse24/sparse24_spmm_wgmma_multiply.cuh"
#include "kernels/sparse24/sparse24_spmm_wgmma_prove.cuh"

namespace shunt
{
namespace sparse24
{

// warp: of the block, in a way that the compiler knows to be the same for all lanes.  Else it keeps
// the ring's place in vector registers, and each product waits for its operands' descriptors: a
// quarter longer in all.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void be_multiplying(const arguments<typename T::compute> &p,
                                               const csr_operands<typename T::compute> &a,
                                               const guard::repair_args &r, int warp,
                                               const ring_places<Shape> &ring, block_state &b)
{
  using stored = typename T::stored;
  prove_before<Shape>(p, r, warp, b);
  multiply_and_store<T, BMajor, Shape>(p, warp / 4, ring, b);
  if (!guard::is_to_repair(b, threadIdx.x == kSpeaker)) return;
  if (!T::whole_numbers && p.repairs_wide)
    repair<stored, float, Shape>(p, a, r, b.order.next);
  else
    repair<stored, typename T::out, Shape>(p, a, r, b.order.next);
}

template <int BMajor, class Shape>
__device__ __forceinline__ void be_fetching(const walk &p, const tensor_maps &maps,
                                            const ring_places<Shape> &ring, const block_state &b)
{
  fetch<BMajor, Shape>(p, maps, ring);
  guard::is_to_repair(b, threadIdx.x == kSpeaker);
}

template <class Shape, class C>
__device__ __forceinline__ void be_hashing(const walk &p, const csr_operands<C> &a,
                                           const guard::repair_args &r, const column_worker &worker,
                                           block_state &b)
{
  const bool speaks = threadIdx.x == kSpeaker;
  bool flagged = false;
  if (speaks) {
    guard::ask_for_home(r, &b.at_home);
    flagged = guard::reports() && guard::is_flagged(a);
  }
  struct shunt_fingerprint part = prove_share<Shape, Shape::kHashedAtOnce>(p, r, worker);
  if constexpr (Shape::kInPlace)
    if (p.columns.columns)
      part.lo +=
          rows_differ(p.columns, {(int)blockIdx.x, (int)gridDim.x, worker.warp, Shape::kHashWarps});
  tell_hashed(b, worker.warp, part);
  if (speaks) guard::agree_for_block(r, b, worker.warps, flagged);
  guard::is_to_repair(b, threadIdx.x == kSpeaker);
}

template <class Shape>
__device__ __forceinline__ void prepare(const tensor_maps &maps, const ring_places<Shape> &ring,
                                        block_state &b)
{
  if (threadIdx.x == 0) {
    ptx::tensor_prefetch(&maps.b);
    if (Shape::kInPlace) ptx::tensor_prefetch(&maps.values);
    for (int i = 0; i < Shape::kStages; i++) {
      ptx::mbarrier_init(ring.chunk.full(i), 1);
      ptx::mbarrier_init(ring.chunk.empty(i), kMultiplyingWarps);
    }
    for (int i = 0; i < Shape::kLeftSlots; i++) {
      ptx::mbarrier_init(ring.left.full(i), 1);
      ptx::mbarrier_init(ring.left.empty(i), kMultiplyingWarps);
    }
    ptx::mbarrier_init(ptx::shared_address(&b.found), kMultiplyingWarps + Shape::kHashWarps);
    ptx::mbarrier_init_fence();
    b.alarm = false;
  }
  __syncthreads();
}

template <class T, int BMajor, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_sparse24(const __grid_constant__ arguments<typename T::compute> p,
                  const __grid_constant__ tensor_maps maps,
                  const __grid_constant__ csr_operands<typename T::compute> a,
                  const __grid_constant__ guard::repair_args r)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  const ring_places<Shape> ring(shared);
  block_state &b = *reinterpret_cast<block_state *>(shared + Shape::kRingBytes);
  prepare(maps, ring, b);
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (warp < kMultiplyingWarps) {
    if (Shape::kMoves) ptx::take_registers<kMultiplyingRegisters>();
    wait_for_previous();
    be_multiplying<T, BMajor, Shape>(p, a, r, warp, ring, b);
  } else {
    if (Shape::kMoves) ptx::give_registers<kHelpingRegisters>();
    const int hashing = warp - kMultiplyingWarps - 1;
    const column_worker worker = find_worker<Shape>(p, hashing);
    if (hashing >= 0) prefetch<Shape>(p, r, worker);
    wait_for_previous();
    if (hashing < 0)
      be_fetching<BMajor, Shape>(p, maps, ring, b);
    else
      be_hashing<Shape>(p, a, r, worker, b);
  }
}

} // namespace sparse24
} // namespace shunt
