// tile_mixed_spmm_blocked_shape.cuh: what one block of the blocked kernel owns, and its shared
// memory.
//
//   stage  | B: ColumnWarps planes of 64 rows x 128 bytes | values | metadata | order | head |
//
//   plane      rows of 64 columns, swizzled by the copy engine: piece c (16 bytes) of row r
//              at c ^ (r % 8)
//   values     [block rows][4][512]     place  |  0  |  1  |  2  |  3  |    strip 0, 1: the two
//                                       dense  | L 0 | R 0 | L 1 | R 1 |    of the chunk; L, R:
//                                       2:4          |  0  |  1  |          halves of the tile
//   metadata   [block rows][2][64]      of strip 0, 1
//   order      [block rows][2][32]
//   head       chunk_head               which of them are there
//
// Tiles that follow each other in a list stand one after the other here too: one copy brings them.
#pragma once
#include "kernels/tile/tile_spmm_common.cuh"

namespace shunt
{
namespace tile
{

constexpr int kChunk = SHUNT_TILE_CHUNK;

// What a stage holds.  Bit r: of block row r in strip 0; bit 16 + r: in strip 1.
struct __align__(16) chunk_head
{
  uint32_t natural;     // 2:4 tiles as they stand
  uint32_t ordered;     // 2:4 tiles in another order
  uint32_t left, right; // halves of dense tiles
};

// RowWarps x ColumnWarps warps cover the block's part of C, 64 x 64 each; Groups sets of them
// take turns at the chunks.
template <int RowWarps, int ColumnWarps, int Groups> struct blocked_shape {
  static constexpr int kRowWarps = RowWarps, kColumnWarps = ColumnWarps, kGroups = Groups;
  static constexpr int kGroupWarps = RowWarps * ColumnWarps, kWarps = kGroupWarps * Groups;
  // Warps that fetch, one for each scheduler: those beside the first cost no registers.
  static constexpr int kBringers = 4;
  static constexpr int kThreads = (kWarps + kBringers) * 32;
  static constexpr int kRows = RowWarps * 64, kTile = ColumnWarps * 64;
  static constexpr int kBlocks = RowWarps * 4; // block rows

  static constexpr int kPlaneBytes = kChunk * 128;
  static constexpr int kBytesOfB = ColumnWarps * kPlaneBytes;
  static constexpr int kValues = kBytesOfB; // places in a stage
  static constexpr int kMetadata = kValues + kBlocks * 2048;
  static constexpr int kOrder = kMetadata + kBlocks * 128;
  static constexpr int kHead = kOrder + kBlocks * 64;
  static constexpr int kStageBytes = (kHead + int{sizeof(chunk_head)} + 1023) / 1024 * 1024;
  static constexpr int kStages = 216 * 1024 / kStageBytes;
  static constexpr int kFull = kStages * kStageBytes, kEmpty = kFull + 8 * kStages;
  static constexpr int kBytes = kEmpty + 8 * kStages;

  // Sums of a warp on their way out.  The pitch keeps four rows on different banks.
  static constexpr int kPitch = 72, kImageFloats = 64 * kPitch;
  static_assert(kWarps == 4, "one warp for each scheduler, and one that fetches: 255 registers");
  static_assert(kStages >= kGroups && kStages >= kBringers, "stage_place wraps once");
  static_assert(kWarps * kImageFloats * 4 <= kFull, "images lie in the ring");
};
using blocked_128x128 = blocked_shape<2, 2, 1>;
using blocked_128x64 = blocked_shape<2, 1, 2>;
using blocked_64x64 = blocked_shape<1, 1, 4>;

// Which block a block is among the p.split of a cluster that share a part of C.
struct block_place {
  int part;      // it takes chunks part, part + p.split, ..,
  int chunks;    // so many
  int row_block; // its rows begin at row_block * kRows

  __device__ __forceinline__ explicit block_place(const arguments &p)
      : part(blockIdx.x % p.split),
        chunks(((p.k + kChunk - 1) / kChunk - part + p.split - 1) / p.split),
        row_block(blockIdx.x / p.split)
  {
  }
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

} // namespace tile
} // namespace shunt
