// tile_mixed_spmm_blocked_fetch.cuh: the warps of a block that fetch.
//
// The block's chunks (64 columns of A, two strips) go round the ring, and the warps take turns at
// them:
//
//   chunk      0   1   2   3   4   5   6   ..
//   warp       0   1   2   3   0   1   2           4 warps
//   stage      0   1   2   3   4   5   0           6 stages
//
// Lane l has block row l of the block: it reads the format's table of chunks, one turn ahead, and
// has the block row's tiles of the chunk brought in at most five copies.  All that comes is brought
// by the copy engine: nothing waits for a load but the table's, and that was read some microseconds
// before.  (Lists walked tile by tile cost 0.5 to 0.7 us a strip: every step waited for a load
// that queues behind what else is being fetched.)
//
// The strips of B do not come where no block row has a tile.
#pragma once
#include <cuda.h>

#include "kernels/ptx/bulk_copy.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/tile/tile_mixed_spmm_blocked_shape.cuh"

namespace shunt
{
namespace tile
{

constexpr uint32_t kAllLanes = 0xffffffffu;

// Two bits each, of a chunk's two strips.
struct chunk_kinds {
  uint32_t natural, ordered, left, right;

  __device__ __forceinline__ chunk_kinds(uint32_t kinds)
      : natural(kinds & 3), ordered(kinds >> 2 & 3), left(kinds >> 4 & 3), right(kinds >> 6 & 3)
  {
  }
};

template <class Shape> struct fetcher {
  const arguments &p;
  const CUtensorMap &map;
  unsigned char *shared;
  uint32_t base;
  block_place place;
  int lane;
  struct shunt_tile_chunk tiles; // of the lane's block row in the warp's next chunk
  stage_place<Shape> at;

  __device__ __forceinline__ fetcher(const arguments &p_, const CUtensorMap &map_,
                                     unsigned char *shared_, uint32_t base_)
      : p(p_), map(map_), shared(shared_), base(base_), place(p_), lane(threadIdx.x % 32)
  {
    look(threadIdx.x / 32 - Shape::kWarps);
  }

  // Reads the table for the block's chunk i.
  __device__ __forceinline__ void look(int i)
  {
    const int block = place.row_block * Shape::kBlocks + lane;
    tiles = {};
    if (lane >= Shape::kBlocks || block >= p.blocks || i >= place.chunks) return;
    const int64_t chunk = place.part + static_cast<int64_t>(i) * p.split;
    tiles = p.v.chunk[chunk * p.blocks + block];
  }

  __device__ __forceinline__ uint32_t stage() const { return base + at.stage * Shape::kStageBytes; }
  __device__ __forceinline__ uint32_t full() const { return base + Shape::kFull + 8 * at.stage; }

  // All lanes, and none goes on before all have seen it: a chunk without a tile is done with as
  // soon as it is announced, and a lane that still waits would wait for the round after.
  __device__ __forceinline__ void wait_empty() const
  {
    ptx::mbarrier_wait(base + Shape::kEmpty + 8 * at.stage, at.parity ^ 1);
    __syncwarp();
  }

  // One lane: the two strips.
  __device__ __forceinline__ void fetch_b(int64_t chunk) const
  {
#pragma unroll
    for (int h = 0; h < Shape::kColumnWarps; h++)
      ptx::tensor_load_2d(stage() + h * Shape::kPlaneBytes, &map,
                          blockIdx.y * Shape::kTile + 64 * h, static_cast<int>(chunk) * kChunk,
                          full());
  }

  // A lane: its block row's tiles.
  __device__ __forceinline__ void fetch_24(const chunk_kinds &k) const
  {
    const uint32_t here = k.natural | k.ordered, first = here == 2, count = __popc(here);
    if (here == 0) return;
    const uint64_t tile = tiles.sparse;
    ptx::bulk_load(stage() + Shape::kValues + lane * 2048 + 512 + first * 512,
                   p.v.sparse.values + tile * SHUNT_TILE_VALUES, count * 512, full());
    ptx::bulk_load(stage() + Shape::kMetadata + lane * 128 + first * 64,
                   p.v.metadata + tile * SHUNT_TILE_WORDS, count * 64, full());
    if (k.ordered)
      ptx::bulk_load(stage() + Shape::kOrder + lane * 64 + first * 32, p.v.order + tile * kStrip,
                     count * 32, full());
  }
  __device__ __forceinline__ void fetch_dense(const chunk_kinds &k) const
  {
    uint64_t tile = tiles.dense;
#pragma unroll
    for (int strip = 0; strip < 2; strip++) {
      const uint32_t left = k.left >> strip & 1, count = left + (k.right >> strip & 1);
      if (count)
        ptx::bulk_load(stage() + Shape::kValues + lane * 2048 + strip * 1024 + (left ^ 1) * 512,
                       p.v.dense.values + tile * SHUNT_TILE_VALUES, count * 512, full());
      tile += count;
    }
  }
  // What both bring.
  static __device__ __forceinline__ uint32_t bytes_of(const chunk_kinds &k)
  {
    const uint32_t sparse = __popc(k.natural | k.ordered), halves = __popc(k.left | k.right << 2);
    return sparse * (512 + 64 + (k.ordered ? 32 : 0)) + halves * 512;
  }

  // The block rows that have a kind of tile in each strip, as in chunk_head.
  static __device__ __forceinline__ uint32_t rows_with(uint32_t kind)
  {
    return __ballot_sync(kAllLanes, kind & 1) | __ballot_sync(kAllLanes, kind >> 1) << 16;
  }

  // The chunk that was looked at, into its stage.
  __device__ __forceinline__ void fetch(int64_t chunk)
  {
    const chunk_kinds k(tiles.kinds);
    const uint32_t bytes = __reduce_add_sync(kAllLanes, bytes_of(k));
    const chunk_head head = {rows_with(k.natural), rows_with(k.ordered), rows_with(k.left),
                             rows_with(k.right)};
    wait_empty();
    if (lane == 0) {
      *reinterpret_cast<chunk_head *>(shared + at.stage * Shape::kStageBytes + Shape::kHead) = head;
      ptx::mbarrier_arrive_expect(full(), bytes + (bytes ? Shape::kBytesOfB : 0));
      if (bytes) fetch_b(chunk);
    }
    fetch_24(k);
    fetch_dense(k);
  }

  __device__ __forceinline__ void fetch_all()
  {
    int i = threadIdx.x / 32 - Shape::kWarps;
    for (at.advance(i); i < place.chunks; i += Shape::kBringers, at.advance(Shape::kBringers)) {
      fetch(place.part + static_cast<int64_t>(i) * p.split);
      look(i + Shape::kBringers);
    }
  }
};

} // namespace tile
} // namespace shunt
