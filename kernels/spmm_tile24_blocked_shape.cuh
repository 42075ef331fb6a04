// spmm_tile24_blocked_shape.cuh: what one block of the blocked kernel owns, and its shared memory.
//
//   stage  | B: ColumnWarps planes of 32 rows x 128 bytes | values | metadata | order | head |
//
//   plane      rows of 64 columns, swizzled by the copy engine: piece c (16 bytes) of row r
//              at c ^ (r % 8)
//   values     [block rows][2][512]  a 2:4 tile, or the left half of a dense one; its right half
//   metadata   [block rows][64]
//   order      [block rows][32]
//   head       which of them are there
#pragma once
#include "kernels/spmm_tile24_common.cuh"

namespace shunt
{
namespace tile24
{

// RowWarps x ColumnWarps warps cover the block's part of C, 64 x 64 each; Groups sets of them
// take turns at the strips of B.
template <int RowWarps, int ColumnWarps, int Groups> struct blocked_shape {
  static constexpr int kRowWarps = RowWarps, kColumnWarps = ColumnWarps, kGroups = Groups;
  static constexpr int kGroupWarps = RowWarps * ColumnWarps, kWarps = kGroupWarps * Groups;
  // Warps that fetch.  A multiprocessor gives registers to four warps at a time, so that those
  // beside the first cost nothing.
  static constexpr int kBringers = 4;
  static constexpr int kThreads = (kWarps + kBringers) * 32;
  static constexpr int kRows = RowWarps * 64, kTile = ColumnWarps * 64;
  static constexpr int kBlocks = RowWarps * 4; // block rows

  static constexpr int kPlaneBytes = kStrip * 128;
  static constexpr int kValues = ColumnWarps * kPlaneBytes; // places in a stage
  static constexpr int kMetadata = kValues + kBlocks * 1024;
  static constexpr int kOrder = kMetadata + kBlocks * 64;
  static constexpr int kHead = kOrder + kBlocks * 32;
  static constexpr int kStageBytes = (kHead + 16 + 1023) / 1024 * 1024;
  static constexpr int kStages = 216 * 1024 / kStageBytes / Groups * Groups;
  static constexpr int kFull = kStages * kStageBytes, kEmpty = kFull + 8 * kStages;
  static constexpr int kBytes = kEmpty + 8 * kStages;

  // Sums of a warp on their way out.  The pitch keeps four rows on different banks.
  static constexpr int kPitch = 72, kImageFloats = 64 * kPitch;
  static_assert(kWarps == 8, "two warps for each scheduler");
  static_assert(kWarps * kImageFloats * 4 <= kFull, "images lie in the ring");
};
using blocked_256x128 = blocked_shape<4, 2, 1>;
using blocked_128x128 = blocked_shape<2, 2, 2>;
using blocked_128x64 = blocked_shape<2, 1, 4>;
using blocked_64x64 = blocked_shape<1, 1, 8>;

// Where a block stands in its cluster of p.split x p.cluster.
struct cluster_place {
  int share;     // of its rows; those of other shares have the next or earlier kRows
  int part;      // it takes strips part, part + p.split, .. of those that are not skipped
  int row_block; // its rows begin at row_block * kRows

  __device__ __forceinline__ cluster_place(const arguments &p, int rank)
      : share(rank % p.cluster), part(rank / p.cluster),
        row_block(blockIdx.x / (p.cluster * p.split) * p.cluster + share)
  {
  }
};

// What a stage holds; bit r: of block row r.
struct stage_head {
  uint32_t sparse_left; // 2:4 tiles; from bit 16 on left halves of dense ones
  uint32_t right;       // right halves; or kEnd
  static constexpr uint32_t kEnd = 1u << 31;
};

// A stage of the ring, and the parity of the ring's round.
template <class Shape> struct stage_place {
  int stage = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void advance(int by)
  {
    stage += by;
    if (stage >= Shape::kStages) stage -= Shape::kStages, parity ^= 1;
  }
};

} // namespace tile24
} // namespace shunt
