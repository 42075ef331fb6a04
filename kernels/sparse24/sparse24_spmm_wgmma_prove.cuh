// sparse24_spmm_wgmma_prove.cuh: the share of the proof that each warp has, and the repair of the
// tiles of its block, for sparse24_spmm_wgmma.cuh.
#pragma once
#include "kernels/guard/agreement.cuh"
#include "kernels/guard/fingerprint_rolling.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/sparse24/sparse24_columns.cuh"
#include "kernels/sparse24/sparse24_spmm_wgmma_shape.cuh"

namespace shunt
{
namespace sparse24
{

// Does the block have fewer tiles of C than others?
__device__ __forceinline__ bool has_time(const walk &p)
{
  const int others = p.tiles % (int)gridDim.x;
  return others > 0 && (int)blockIdx.x >= others;
}

// Warp number `warp` of the block's, of which those that multiply come last and hash only where
// there is time before: then the first tiles of A's columns are dealt to such blocks.
template <class Shape> __device__ __forceinline__ column_worker find_worker(const walk &p, int warp)
{
  const int block = blockIdx.x, blocks = gridDim.x, busy = p.tiles % blocks;
  if (p.spared == 0) return {{block, blocks, warp, Shape::kHashWarps}};
  if (!has_time(p)) return {{block, busy, warp, Shape::kHashWarps}, p.spared, INT_MAX};
  return {{block - busy, blocks - busy, warp, Shape::kHashWarps + kMultiplyingWarps}, 0, p.spared};
}

template <class Shape>
__device__ __forceinline__ void prefetch(const walk &p, const guard::repair_args &r,
                                         const column_worker &worker)
{
  if (Shape::kInPlace && p.columns.columns)
    prefetch_columns(p.columns, worker);
  else
    guard::prefetch_share(r.arrays, worker);
}

// What a worker's tiles of A's arrays contribute.
template <class Shape, int AtOnce>
__device__ __forceinline__ struct shunt_fingerprint
prove_share(const walk &p, const guard::repair_args &r, const column_worker &worker)
{
  if constexpr (Shape::kInPlace)
    if (p.columns.columns) return compare_share<AtOnce>(p.columns, r.expected, worker);
  return guard::hash_share_rolling<AtOnce>(r.arrays, worker);
}

// By a warp that multiplies, before, where there is time.
template <class Shape>
__device__ __forceinline__ void prove_before(const walk &p, const guard::repair_args &r, int warp,
                                             block_state &b)
{
  if constexpr (Shape::kInPlace) {
    if (p.spared == 0 || !has_time(p)) return;
    struct shunt_fingerprint part =
        compare_share<2>(p.columns, r.expected, find_worker<Shape>(p, Shape::kHashWarps + warp));
    guard::warp_sum(part, 32);
    if (threadIdx.x % 32 == 0) b.part[Shape::kHashWarps + warp] = part;
  }
}

// By all lanes of a warp that hashes.
__device__ __forceinline__ void tell_hashed(block_state &b, int warp, struct shunt_fingerprint part)
{
  guard::warp_sum(part, 32);
  if (threadIdx.x % 32 != 0) return;
  b.part[warp] = part;
  ptx::mbarrier_arrive(ptx::shared_address(&b.found));
}

// The tiles that this block has stored.
template <class S, class Out, class Shape, class C>
__device__ __noinline__ void repair_own(const walk &p, const csr_operands<C> &a)
{
  constexpr int strips = Shape::kColumns / 32;
  for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
    const tile_place<Shape> tile(p, t);
    guard::repair_rectangle<S, Out>(
        a, {(int64_t)tile.row * kRows, (int64_t)tile.column * strips, kRows, strips},
        threadIdx.x / 32, kMultiplyingWarps);
  }
}

template <class S, class Out, class Shape, class C>
__device__ __forceinline__ void repair(const walk &p, const csr_operands<C> &a,
                                       const guard::repair_args &r, uint32_t *next)
{
  guard::repair_or_own<S, Out>(a, r, next, [&] { repair_own<S, Out, Shape>(p, a); });
}

} // namespace sparse24
} // namespace shunt
