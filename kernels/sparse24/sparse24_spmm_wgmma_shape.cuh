// sparse24_spmm_wgmma_shape.cuh: shapes of the kernel of sparse24_spmm_wgmma.cuh, what it is told,
// the ring in shared memory, and where the tiles of C of a block are.
#pragma once
#include <cuda.h>

#include "kernels/common/wgmma_store.cuh"
#include "kernels/guard/agreement.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/sparse24/sparse24_columns.cuh"
#include "kernels/sparse24/sparse24_kernels.h"

namespace shunt
{
namespace sparse24
{

constexpr int kRows = 128, kBoxBytes = 64 * 128, kPanel = 2048;
constexpr int kGroups = 2, kMultiplyingWarps = 4 * kGroups;                // of warps that multiply
constexpr int kMultiplyingRegisters = 176, kHelpingRegisters = 80;         // of 128 each
constexpr int kMostHashWarps = 7, kSpeaker = 32 * (kMultiplyingWarps + 1); // speaks for its block

// Behind the ring.
struct block_state {
  alignas(16) ptx::word_pair at_home; // arrives while the block multiplies
  struct shunt_fingerprint part[kMostHashWarps + kMultiplyingWarps];
  uint64_t found; // barrier: warps have written what follows, and `part`
  bool alarm;     // a sum became NaN
  guard::repair_order order;
  guard::word_place place;
};

constexpr uint32_t kValueBytes = SHUNT_SPARSE24_VALUE_BYTES;
constexpr uint32_t kMetadataBytes = SHUNT_SPARSE24_WORDS * 4;

// Helpers: warps that do not multiply.  HashedAtOnce: tiles of A's arrays, by each warp.  Size:
// of a value.  LeftSlots: 0, A is the copy's; else its values are read in place, and A has a ring
// of so many slots for itself.
template <int Columns, int Stages, int Helpers, int HashedAtOnce, int Size, int LeftSlots = 0>
struct shape {
  static constexpr bool kInPlace = LeftSlots > 0;
  static constexpr int kSize = Size, kDepth = 128 / Size; // of a chunk
  static constexpr int kWords = 2 / Size;                 // of a lane's metadata
  // Of A, for each group.
  static constexpr uint32_t kTileBytes = kValueBytes + kWords * kMetadataBytes;
  static constexpr int kHelpers = Helpers, kThreads = 32 * (kHelpers + kMultiplyingWarps);
  static constexpr int kHashWarps = kHelpers - 1, kHashedAtOnce = HashedAtOnce;
  static constexpr int kColumns = Columns, kStages = Stages, kBoxes = Columns / 64;
  static constexpr uint32_t kLeft = kBoxes * kBoxBytes; // where A begins in a stage
  static constexpr uint32_t kStageBytes = kLeft + (kInPlace ? 0 : kGroups * kTileBytes);
  static constexpr int kLeftSlots = LeftSlots;
  static constexpr uint32_t kLeftBytes = kGroups * 2 * kTileBytes; // two chunks
  static constexpr uint32_t kStagesEnd = Stages * kStageBytes;
  static constexpr uint32_t kSlotsEnd = kStagesEnd + LeftSlots * kLeftBytes; // barriers begin
  static constexpr uint32_t kRingBytes = kSlotsEnd + (Stages + LeftSlots) * 16;
  static constexpr uint32_t kBytes = kRingBytes + sizeof(block_state);
  static constexpr bool kMoves = Columns == 256 && Helpers == 8; // registers
  static constexpr int kOfProduct = kMoves ? 128 : Columns;      // columns
  static_assert(kStageBytes % 1024 == 0 && kLeftBytes % 1024 == 0, "B is swizzled, and A in place");
  static_assert(kHashWarps <= kMostHashWarps, "each has a place for its part");
  static_assert(!kInPlace || Size == 2, "int8 is not built");
};
template <int Size> using shape_128 = shape<128, 6, 8, 1, Size>;
template <int Size> using shape_256 = shape<256, 5, 4, 2, Size>;
template <int Size> using shape_2x128 = shape<256, 5, 8, 1, Size>;
using in_place_128 = shape<128, 8, 8, 1, 2, 4>;
using in_place_256 = shape<256, 5, 4, 3, 2, 3>;
using in_place_2x128 = shape<256, 5, 8, 1, 2, 3>;

// What the kernel is told beside B's map.  C: what is computed with.
struct walk {
  const char *a; // tiles
  int chunks, tiles, tiles_down, tiles_across;
  int last_box; // of B: its first column
  int spared;   // tiles of A's columns that blocks with fewer tiles of C compare
  column_job columns;
};
// What the copy engine brings in boxes: B, and A's values where they are read in place.
struct tensor_maps {
  CUtensorMap b, values;
};
template <class C> struct arguments : walk {
  wgmma::destination<C> c; // of the product
  bool repairs_wide;       // what a repair writes is f32
};

// ---- the ring and the tiles ------------------------------------------------------------------

// A place in a ring of shared memory, and the parity of its round; its barriers lie elsewhere.
template <int Slots, uint32_t SlotBytes> struct ring_place {
  uint32_t ring, barriers; // addresses
  int slot = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ ring_place(uint32_t ring_, uint32_t barriers_)
      : ring(ring_), barriers(barriers_)
  {
  }
  __device__ __forceinline__ uint32_t stage() const { return ring + slot * SlotBytes; }
  __device__ __forceinline__ uint32_t full(int of) const { return barriers + of * 16; }
  __device__ __forceinline__ uint32_t empty(int of) const { return full(of) + 8; }
  __device__ __forceinline__ void advance()
  {
    if (++slot == Slots) slot = 0, parity ^= 1;
  }
};

// B's ring, which has A's copy in it; and A's, where its values are read in place.
template <class Shape> struct ring_places {
  const unsigned char *shared;
  ring_place<Shape::kStages, Shape::kStageBytes> chunk;
  ring_place<Shape::kLeftSlots, Shape::kLeftBytes> left;
  __device__ __forceinline__ explicit ring_places(const unsigned char *at)
      : shared(at), chunk(ptx::shared_address(at), ptx::shared_address(at) + Shape::kSlotsEnd),
        left(ptx::shared_address(at) + Shape::kStagesEnd,
             ptx::shared_address(at) + Shape::kSlotsEnd + Shape::kStages * 16)
  {
  }
  // Where a group's values of the chunk are, of which `second` tells whether it is a pair's second.
  __device__ __forceinline__ uint32_t values(int group, int second) const
  {
    return Shape::kInPlace ? left.stage() + group * 2 * kValueBytes + second * 64
                           : chunk.stage() + Shape::kLeft + group * Shape::kTileBytes;
  }
  // And this lane's metadata, by one load.
  __device__ __forceinline__ void words(int group, int second, uint32_t (&to)[Shape::kWords]) const
  {
    const uint32_t at = Shape::kInPlace ? Shape::kStagesEnd + left.slot * Shape::kLeftBytes +
                                              kGroups * 2 * kValueBytes +
                                              (second * kGroups + group) * kMetadataBytes
                                        : chunk.slot * Shape::kStageBytes + Shape::kLeft +
                                              group * Shape::kTileBytes + kValueBytes;
    const auto there = *reinterpret_cast<const vec<uint32_t, Shape::kWords> *>(
        shared + at + threadIdx.x % 128 * 4 * Shape::kWords);
#pragma unroll
    for (int w = 0; w < Shape::kWords; w++) to[w] = there.at[w];
  }
};

// Where tile t of C is, counted in tiles.
template <class Shape> struct tile_place {
  int row, column;
  __device__ __forceinline__ tile_place(const walk &p, int t)
  {
    constexpr int wide = kPanel / Shape::kColumns;
    const int panel = t / (wide * p.tiles_down), in_panel = t % (wide * p.tiles_down);
    const int here = min(wide, p.tiles_across - panel * wide);
    row = in_panel / here;
    column = panel * wide + in_panel % here;
  }
};

} // namespace sparse24
} // namespace shunt
