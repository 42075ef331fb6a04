// sparse24_spmm_wgmma_multiply.cuh: the warps that multiply and store, for sparse24_spmm_wgmma.cuh.
#pragma once
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/wgmma_sparse.cuh"
#include "kernels/sparse24/sparse24_spmm_product.cuh"
#include "kernels/sparse24/sparse24_spmm_wgmma_shape.cuh"

namespace shunt
{
namespace sparse24
{

// The first or second half of a chunk's columns of A.
template <class Shape> __device__ __forceinline__ uint64_t left_operand(uint32_t values, int half)
{
  if (Shape::kInPlace) return ptx::wgmma_operand(values + half * 32, 0, 1024);
  return ptx::wgmma_operand_plain(values + half * (kValueBytes / 2), 1024, 128);
}

// d (+)= the group's 64 rows of one chunk of A times B's columns of the tile.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply_chunk(uint32_t stage, uint32_t left,
                                               const uint32_t (&metadata)[Shape::kWords], bool keep,
                                               typename T::sum (&d)[Shape::kColumns / 2])
{
  using product = product_of<typename T::stored>;
  // From one product to the next, half a chunk of B, by rows or by columns.
  constexpr uint32_t eight = 1024, further_b = BMajor ? 4 * eight : 64;
  constexpr int sums = Shape::kOfProduct / 2, products = Shape::kColumns / Shape::kOfProduct;
  ptx::wgmma_fence();
#pragma unroll
  for (int i = 0; i < products; i++)
    product::template run<BMajor, 0>(
        reinterpret_cast<typename T::sum(&)[sums]>(d[i * sums]), left_operand<Shape>(left, 0),
        ptx::wgmma_operand(stage + i * (Shape::kOfProduct / 64) * kBoxBytes, kBoxBytes, eight),
        metadata[0], keep);
#pragma unroll
  for (int i = 0; i < products; i++)
    product::template run<BMajor, 1>(
        reinterpret_cast<typename T::sum(&)[sums]>(d[i * sums]), left_operand<Shape>(left, 1),
        ptx::wgmma_operand(stage + i * (Shape::kOfProduct / 64) * kBoxBytes + further_b, kBoxBytes,
                           eight),
        metadata[Shape::kWords - 1], true);
  ptx::wgmma_commit();
}

template <int Words> __device__ __forceinline__ void keep_words(const uint32_t (&metadata)[Words])
{
#pragma unroll
  for (uint32_t word : metadata) ptx::wgmma_keep(word);
}

__device__ __forceinline__ void give_back(uint32_t empty)
{
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(empty);
}

// d = the group's rows of a tile.  One chunk's products are under way while the next one's begin,
// so the metadata of two is held.  int8 waits for a chunk's products before the next: with two
// words of each the compiler makes every product wait otherwise.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply(const walk &p, int group, ring_places<Shape> &at,
                                         typename T::sum (&d)[Shape::kColumns / 2])
{
  constexpr int ahead = Shape::kWords == 1; // chunks
  const int chunks = p.chunks;
  uint32_t metadata[2][Shape::kWords] = {};
  int last = 0, last_left = 0;
  for (int pair = 0; pair < chunks; pair += 2) {
    if (Shape::kInPlace) ptx::mbarrier_wait(at.left.full(at.left.slot), at.left.parity);
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int chunk = pair + i;
      if (chunk >= chunks) break;
      ptx::mbarrier_wait(at.chunk.full(at.chunk.slot), at.chunk.parity);
      at.words(group, i, metadata[i]);
      multiply_chunk<T, BMajor, Shape>(at.chunk.stage(), at.values(group, i), metadata[i],
                                       chunk > 0, d);
      ptx::wgmma_wait<ahead>();
      keep_words(metadata[ahead ? 1 - i : i]);
      if (chunk >= ahead) give_back(at.chunk.empty(ahead ? last : at.chunk.slot));
      if (Shape::kInPlace && i == 0 && pair > 0) give_back(at.left.empty(last_left));
      last = at.chunk.slot;
      at.chunk.advance();
    }
    if (Shape::kInPlace) last_left = at.left.slot, at.left.advance();
  }
  if (!ahead) return;
  ptx::wgmma_wait<0>();
  keep_words(metadata[0]);
  keep_words(metadata[1]);
  give_back(at.chunk.empty(last));
  if (Shape::kInPlace) give_back(at.left.empty(last_left));
}

// By all lanes of a warp that multiplies: its last products are done.
__device__ __forceinline__ void tell_multiplied(block_state &b, bool nan)
{
  if (nan) b.alarm = true;
  __syncwarp();
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&b.found));
}

template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply_and_store(const arguments<typename T::compute> &p,
                                                   int group, ring_places<Shape> at, block_state &b)
{
  using sum = typename T::sum;
  sum d[Shape::kColumns / 2];
  bool nan = false;
  for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
    const tile_place<Shape> tile(p, t);
    multiply<T, BMajor, Shape>(p, group, at, d);
    if (!Shape::kInPlace) // else nothing was filled up
#pragma unroll
      for (sum x : d) nan |= x != x;
    if (t + gridDim.x >= p.tiles) tell_multiplied(b, nan);
    wgmma::store_rows<typename T::out, Shape::kColumns>(p.c, d, tile.row * kRows + group * 64,
                                                        tile.column * Shape::kColumns);
  }
  if (blockIdx.x >= p.tiles) tell_multiplied(b, false);
}

} // namespace sparse24
} // namespace shunt
