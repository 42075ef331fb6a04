// sparse24_spmm_wgmma_fetch.cuh: the warp that tells the copy engine what to bring, for
// sparse24_spmm_wgmma.cuh.
#pragma once
#include "kernels/ptx/bulk_copy.cuh"
#include "kernels/ptx/elect.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/sparse24/sparse24_spmm_wgmma_shape.cuh"

namespace shunt
{
namespace sparse24
{

// From where the next chunk of a tile comes.
template <class Shape> struct chunk_source {
  const char *a[kGroups];
  int n[Shape::kBoxes], k; // of B
  int row;                 // of A
  // What lies beyond B's columns would be filled with zeros, which takes the copy engine longer
  // than columns that are there, and are not stored.
  __device__ __forceinline__ chunk_source(const walk &p, const tile_place<Shape> &at)
      : k(0), row(at.row * kRows)
  {
#pragma unroll
    for (int i = 0; i < Shape::kBoxes; i++)
      n[i] = min(at.column * Shape::kColumns + i * 64, p.last_box);
#pragma unroll
    for (int i = 0; i < kGroups; i++)
      a[i] = p.a + static_cast<int64_t>(at.row * kGroups + i) * p.chunks * Shape::kTileBytes;
  }
  __device__ __forceinline__ void advance()
  {
#pragma unroll
    for (int i = 0; i < kGroups; i++) a[i] += Shape::kTileBytes;
    k += Shape::kDepth;
  }
};

template <int BMajor, class Shape>
__device__ __forceinline__ void fetch_chunk(const chunk_source<Shape> &from,
                                            const tensor_maps &maps, uint32_t to, uint32_t full)
{
  ptx::mbarrier_arrive_expect(full, Shape::kStageBytes);
#pragma unroll
  for (int i = 0; i < Shape::kBoxes; i++) {
    const int n = from.n[i];
    ptx::tensor_load_2d(to + i * kBoxBytes, &maps.b, BMajor ? n : from.k, BMajor ? from.k : n,
                        full);
  }
#pragma unroll
  for (int i = 0; i < (Shape::kInPlace ? 0 : kGroups); i++)
    ptx::bulk_load(to + Shape::kLeft + i * Shape::kTileBytes, from.a[i], Shape::kTileBytes, full);
}

// Of A in place, two chunks, or a row's last one:
//
//   | values: 128 rows of 128 bytes, swizzled | metadata: 64 rows, 64 rows | of the next chunk |
template <class Shape>
__device__ __forceinline__ void fetch_left(const chunk_source<Shape> &from, int chunks,
                                           const tensor_maps &maps, uint32_t to, uint32_t full)
{
  const uint32_t metadata = to + kGroups * 2 * kValueBytes;
  ptx::mbarrier_arrive_expect(full, kGroups * (2 * kValueBytes + chunks * kMetadataBytes));
  ptx::tensor_load_2d(to, &maps.values, from.k / 2, from.row, full);
#pragma unroll
  for (int i = 0; i < 2 * kGroups; i++)
    if (i / kGroups < chunks)
      ptx::bulk_load(metadata + i * kMetadataBytes,
                     from.a[i % kGroups] + i / kGroups * Shape::kTileBytes + kValueBytes,
                     kMetadataBytes, full);
}

// By a warp.  What a chunk costs it bounds the kernel: so places are found once a tile, and a lane
// is elected only to ask.
template <int BMajor, class Shape>
__device__ __forceinline__ void fetch(const walk &p, const tensor_maps &maps, ring_places<Shape> at)
{
  const int chunks = p.chunks, tiles = p.tiles;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    chunk_source<Shape> from(p, tile_place<Shape>(p, t));
    for (int chunk = 0; chunk < chunks; chunk++, at.chunk.advance()) {
      ptx::mbarrier_wait(at.chunk.empty(at.chunk.slot), at.chunk.parity ^ 1);
      if (ptx::elect_one())
        fetch_chunk<BMajor>(from, maps, at.chunk.stage(), at.chunk.full(at.chunk.slot));
      // Behind B, whose next slot is free earlier: before it, 10 % longer in all.
      if (Shape::kInPlace && chunk % 2 == 0) {
        ptx::mbarrier_wait(at.left.empty(at.left.slot), at.left.parity ^ 1);
        if (ptx::elect_one())
          fetch_left(from, min(2, chunks - chunk), maps, at.left.stage(),
                     at.left.full(at.left.slot));
        at.left.advance();
      }
      from.advance();
    }
  }
}

} // namespace sparse24
} // namespace shunt
