// spmm_tile24_blocked_bring.cuh: the warps of a block that fetch.
//
// Each merges the lists of the cluster's block rows, lane l with those of block row l.  The least
// strip that any of them comes to next is fetched, so strips that none has are skipped, and all
// blocks of the cluster, who merge the same lists, walk the same strips.  The warps take turns: to
// fetch takes some 250 cycles, to multiply as few as 110.
//
//   block row 0   | x |   | x |   |        lane 0
//   block row 1   |   |   | x | x |        lane 1      x: a tile, 2:4 or dense
//      ..
//   fetched         *       *   *
//
// The strip of B comes by the copy engine, with each block of the cluster bringing its share
// for all; the block's own tiles by cp.async.
#pragma once
#include <cuda.h>

#include "kernels/ptx/cp_async_barrier.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/spmm_tile24_blocked_shape.cuh"

namespace shunt
{
namespace tile24
{

constexpr uint32_t kAllLanes = 0xffffffffu;
constexpr uint32_t kNoStrip = 0x7fffffffu; // strips are fewer

// A lane's place in one list: the next two tiles' columns, ~0 where the list has ended.
struct list_cursor {
  const uint32_t *column;
  uint32_t next, end, first, second;

  __device__ __forceinline__ uint32_t look(uint32_t i) const
  {
    return i < end ? __ldg(column + i) : ~0u;
  }
  __device__ __forceinline__ void start(const struct shunt_tile24_list &list, int block, int blocks)
  {
    column = list.column;
    next = end = 0;
    if (block < blocks) next = list.begin[block], end = list.begin[block + 1];
    first = look(next), second = look(next + 1);
  }
  __device__ __forceinline__ void take(uint32_t count)
  {
    if (count == 0) return;
    next += count;
    first = count == 1 ? second : look(next);
    second = look(next + 1);
  }
};

template <class Shape> struct bringer {
  const arguments &p;
  const CUtensorMap &map;
  unsigned char *shared;
  uint32_t base;
  cluster_place place;
  int lane, lane0; // lane0: of the block's own first block row
  int number;      // strips that were fetched, by all blocks and warps
  list_cursor sparse, dense;
  stage_place<Shape> at;

  __device__ __forceinline__ bringer(const arguments &p_, const CUtensorMap &map_,
                                     unsigned char *shared_, uint32_t base_)
      : p(p_), map(map_), shared(shared_), base(base_), place(p_, ptx::cluster_rank()),
        lane(threadIdx.x % 32), lane0(place.share * Shape::kBlocks), number(0)
  {
    const int in_cluster = p.cluster * Shape::kBlocks;
    const int block = (place.row_block - place.share) * Shape::kBlocks + lane;
    sparse.start(p.v.sparse, block, lane < in_cluster ? p.blocks : 0);
    dense.start(p.v.dense, block, lane < in_cluster ? p.blocks : 0);
  }

  __device__ __forceinline__ uint32_t stage() const { return base + at.stage * Shape::kStageBytes; }
  __device__ __forceinline__ uint32_t full() const { return base + Shape::kFull + 8 * at.stage; }

  __device__ __forceinline__ void wait_empty() const
  {
    while (!ptx::mbarrier_try_wait(base + Shape::kEmpty + 8 * at.stage, at.parity ^ 1)) {
    }
  }

  // One lane: says what comes, and sends for the block's share of the strip.
  __device__ __forceinline__ void announce(const stage_head &head, uint32_t bytes) const
  {
    *reinterpret_cast<stage_head *>(shared + at.stage * Shape::kStageBytes + Shape::kHead) = head;
    ptx::mbarrier_arrive_expect(full(), bytes);
  }
  __device__ __forceinline__ void bring_strip(uint32_t strip) const
  {
    const int rows = kStrip / p.cluster, y = strip * kStrip + place.share * rows;
    const uint32_t to = stage() + place.share * rows * 128;
#pragma unroll
    for (int h = 0; h < Shape::kColumnWarps; h++) {
      const int x = blockIdx.y * Shape::kTile + 64 * h;
      if (p.cluster == 1)
        ptx::tensor_load_2d(to + h * Shape::kPlaneBytes, &map, x, y, full());
      else
        ptx::tensor_load_2d_multicast(to + h * Shape::kPlaneBytes, &map, x, y, full(),
                                      ((1 << p.cluster) - 1) << (place.part * p.cluster));
    }
  }

  // Packed values of the block rows in `wanted`, 512 bytes each by the warp; those in `from_sparse`
  // out of the 2:4 list.  tile: the lane's block row's.
  __device__ __forceinline__ void bring_values(uint32_t to, uint32_t wanted, uint32_t from_sparse,
                                               uint32_t tile) const
  {
    const char *of_sparse = reinterpret_cast<const char *>(p.v.sparse.values) + lane * 16;
    const char *of_dense = reinterpret_cast<const char *>(p.v.dense.values) + lane * 16;
#pragma unroll
    for (int r = 0; r < Shape::kBlocks; r++) {
      const uint64_t which = __shfl_sync(kAllLanes, tile, lane0 + r);
      const char *from = (from_sparse >> r & 1 ? of_sparse : of_dense) + which * 512;
      if (wanted >> r & 1) ptx::cp_async_16(to + r * 1024 + lane * 16, from);
    }
  }
  __device__ __forceinline__ void bring_metadata(uint32_t wanted) const
  {
    const uint32_t to = stage() + Shape::kMetadata, piece = lane % 4;
#pragma unroll
    for (int i = 0; i < (Shape::kBlocks + 7) / 8; i++) {
      const int r = i * 8 + lane / 4;
      const uint64_t tile = __shfl_sync(kAllLanes, sparse.next, lane0 + r);
      if (r < Shape::kBlocks && wanted >> r & 1)
        ptx::cp_async_16(to + r * 64 + piece * 16,
                         p.v.metadata + tile * SHUNT_TILE24_WORDS + piece * 4);
    }
  }
  __device__ __forceinline__ void bring_orders(uint32_t wanted) const
  {
    const int r = lane / 2, piece = lane % 2;
    const uint64_t tile = __shfl_sync(kAllLanes, sparse.next, lane0 + r);
    if (r < Shape::kBlocks && wanted >> r & 1)
      ptx::cp_async_16(stage() + Shape::kOrder + r * 32 + piece * 16,
                       p.v.order + tile * kStrip + piece * 16);
  }

  // left, right: the lane's block row has these halves of a dense tile here; sparse_here: a 2:4
  // one.
  __device__ __forceinline__ void bring(uint32_t strip, bool sparse_here, bool left, bool right)
  {
    constexpr uint32_t kMine = (1u << Shape::kBlocks) - 1;
    const uint32_t sparse_rows = __ballot_sync(kAllLanes, sparse_here) >> lane0 & kMine;
    const uint32_t left_rows = __ballot_sync(kAllLanes, left) >> lane0 & kMine;
    const uint32_t right_rows = __ballot_sync(kAllLanes, right) >> lane0 & kMine;
    wait_empty();
    if (lane == 0) {
      announce({sparse_rows | left_rows << 16, right_rows},
               Shape::kColumnWarps * Shape::kPlaneBytes);
      bring_strip(strip);
    }
    const uint32_t values = stage() + Shape::kValues;
    bring_values(values, sparse_rows | left_rows, sparse_rows,
                 sparse_here ? sparse.next : dense.next);
    if (right_rows) bring_values(values + 512, right_rows, 0, dense.next + left);
    bring_metadata(sparse_rows);
    if (p.v.order) bring_orders(sparse_rows);
    ptx::cp_async_arrive(full());
  }

  // Is it for this warp to fetch strip `number` of those that are fetched?
  __device__ __forceinline__ bool my_block() const
  {
    return number % p.split == place.part;
  }
  __device__ __forceinline__ bool my_turn() const
  {
    return number / p.split % Shape::kBringers ==
           static_cast<int>(threadIdx.x / 32) - Shape::kWarps;
  }

  __device__ __forceinline__ void bring_all()
  {
    for (;; number++) {
      const uint32_t strip = __reduce_min_sync(kAllLanes, min(sparse.first, dense.first / 2));
      if (strip >= kNoStrip) break;
      const bool sparse_here = sparse.first == strip, left = dense.first == 2 * strip;
      const bool right = (left ? dense.second : dense.first) == 2 * strip + 1;
      if (my_block()) {
        if (my_turn()) bring(strip, sparse_here, left, right);
        at.advance(1);
      }
      sparse.take(sparse_here);
      dense.take(left + right);
    }
    // Each group is told once.
    for (int told = 0; told < Shape::kGroups; number++) {
      if (!my_block()) continue;
      if (my_turn()) {
        wait_empty();
        if (lane == 0) announce({0, stage_head::kEnd}, 0);
        ptx::cp_async_arrive(full());
      }
      at.advance(1);
      told++;
    }
  }
};

} // namespace tile24
} // namespace shunt
