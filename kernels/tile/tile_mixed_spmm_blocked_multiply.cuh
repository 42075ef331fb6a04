// tile_mixed_spmm_blocked_multiply.cuh: a warp that multiplies: four block rows x 64 columns of C.
//
// The fragment of B that ldmatrix.x4.trans brings for 32 rows x 8 columns is the B operand of
// mma.sp.m16n8k32, and its halves are those of mma.m16n8k16 for a dense tile's two halves.  So the
// eight of a strip serve all four block rows, in up to three passes:
//
//                 B, 32 x 64: 8 fragments, one ldmatrix each
//               +---+---+---+---+---+---+---+---+
//   4 tiles     |   |   |   |   |   |   |   |   |
//     2:4       | d[0][0..7]                    |     mma.sp, both strips of the chunk
//     dense     | d[1][0..7]                    |     mma, left halves, right halves
//     none      |                               |     zeros in every pass
//     ordered   | fragments of its own          |     ldmatrix by order, mma.sp
//               +---+---+---+---+---+---+---+---+
//
// A pass takes zeros for those of the four that have no tile of its kind: an mma.sp costs 8 cycles,
// to decide for each and wait for what it then loads some 40.
#pragma once
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/tile/tile_mixed_spmm_blocked_shape.cuh"

namespace shunt
{
namespace tile
{

template <class T, class Shape> struct multiplier {
  static constexpr int kTiles = 4, kPieces = 8; // block rows; fragments of B in 64 columns
  static constexpr int kStripBytes = kStrip * 128;

  const unsigned char *shared;
  uint32_t base;
  int lane, group, first, plane; // first: of the warp's block rows; plane: where its B begins
  float d[kTiles][kPieces][4];

  __device__ __forceinline__ multiplier(const unsigned char *shared_, uint32_t base_)
      : shared(shared_), base(base_), lane(threadIdx.x % 32)
  {
    const int warp = threadIdx.x / 32, in_group = warp % Shape::kGroupWarps;
    group = warp / Shape::kGroupWarps;
    first = in_group / Shape::kColumnWarps * kTiles;
    plane = in_group % Shape::kColumnWarps * Shape::kPlaneBytes;
#pragma unroll
    for (int i = 0; i < kTiles; i++)
#pragma unroll
      for (int j = 0; j < kPieces; j++)
#pragma unroll
        for (int k = 0; k < 4; k++) d[i][j][k] = 0.0f;
  }

  // ---- operands; stage: where it begins in shared memory ----------------------------------------

  // Place 0 to 3 (tile_mixed_spmm_blocked_shape.cuh) of block row i.
  __device__ __forceinline__ void load_values(uint32_t (&a)[4], int stage, int i, int place) const
  {
    const uint4 v = *reinterpret_cast<const uint4 *>(shared + stage + Shape::kValues +
                                                     (first + i) * 2048 + place * 512 + lane * 16);
    a[0] = v.x, a[1] = v.y, a[2] = v.z, a[3] = v.w;
  }
  __device__ __forceinline__ void load_24(uint32_t (&a)[4], uint32_t &metadata, int stage,
                                          int strip, int i) const
  {
    load_values(a, stage, i, 1 + strip);
    metadata =
        *reinterpret_cast<const uint32_t *>(shared + stage + Shape::kMetadata + (first + i) * 128 +
                                            strip * 64 + (lane / 4 * 2 + lane % 2) * 4);
  }
  // Is block row i among `rows` (chunk_head) of the strip?
  static __device__ __forceinline__ bool has(uint32_t rows, int strip, int i)
  {
    return rows >> (16 * strip + i) & 1;
  }
  // Makes zeros of what was loaded where there is no tile of the kind.
  static __device__ __forceinline__ void clear_unless(bool here, uint32_t (&a)[4])
  {
    const uint32_t mask = here ? ~0u : 0u;
#pragma unroll
    for (int k = 0; k < 4; k++) a[k] &= mask;
  }
  // A 2:4 tile as it stands.  All: each block row has one.
  template <bool All>
  __device__ __forceinline__ void load_natural(uint32_t (&a)[4], uint32_t &metadata, int stage,
                                               int strip, int i, uint32_t rows) const
  {
    load_24(a, metadata, stage, strip, i);
    if (All) return;
    clear_unless(has(rows, strip, i), a);
    if (!has(rows, strip, i)) metadata = 0x44444444; // a pair in each quad, as there must be
  }
  // The lane's address for ldmatrix: piece 0 of a row of strip 0.  Piece c: ^ c << 4.
  __device__ __forceinline__ uint32_t row_at(int stage, int row) const
  {
    return base + stage + plane + row * 128 + (row % 8 << 4);
  }

  // ---- products ------------------------------------------------------------------------

  // 2:4 tiles as they stand, of the block rows of each strip that `rows` names: the whole of a
  // pruned matrix is made of this.
  template <bool All> __device__ __forceinline__ void multiply_natural(int stage, uint32_t rows)
  {
    const uint32_t at = row_at(stage, lane);
#pragma unroll
    for (int strip = 0; strip < 2; strip++) {
      uint32_t a[kTiles][4], metadata[kTiles];
#pragma unroll
      for (int i = 0; i < kTiles; i++) load_natural<All>(a[i], metadata[i], stage, strip, i, rows);
#pragma unroll
      for (int j = 0; j < kPieces; j++) {
        uint32_t b[4];
        ptx::ldmatrix_x4_trans(b, (at + strip * kStripBytes) ^ j << 4);
#pragma unroll
        for (int i = 0; i < kTiles; i++) sparse_mma_of<T>::run(d[i][j], a[i], b, metadata[i]);
      }
    }
  }

  // The same halves of dense tiles of one strip.  An ldmatrix brings 16 rows x 16 columns of B.
  __device__ __forceinline__ void multiply_side(int stage, int strip, int side, uint32_t rows)
  {
    uint32_t a[kTiles][4];
    const int row = strip * kStrip + side * SHUNT_TILE_HALF + lane % 16;
    const uint32_t at = row_at(stage, row) ^ lane / 16 << 4;
#pragma unroll
    for (int i = 0; i < kTiles; i++) {
      load_values(a[i], stage, i, strip * 2 + side);
      clear_unless(has(rows, strip, i), a[i]);
    }
#pragma unroll
    for (int j = 0; j < kPieces; j += 2) {
      uint32_t b[4];
      ptx::ldmatrix_x4_trans(b, at ^ j << 4);
      const uint32_t left[2] = {b[0], b[1]}, right[2] = {b[2], b[3]};
#pragma unroll
      for (int i = 0; i < kTiles; i++) {
        mma_of<T>::run(d[i][j], a[i], left);
        mma_of<T>::run(d[i][j + 1], a[i], right);
      }
    }
  }

  // A 2:4 tile in another order.
  template <int I> __device__ __forceinline__ void multiply_ordered(int stage, int strip)
  {
    uint32_t a[4], metadata;
    const int order = shared[stage + Shape::kOrder + (first + I) * 64 + strip * 32 + lane];
    const uint32_t at = row_at(stage, strip * kStrip + order);
    load_24(a, metadata, stage, strip, I);
#pragma unroll
    for (int j = 0; j < kPieces; j++) {
      uint32_t b[4];
      ptx::ldmatrix_x4_trans(b, at ^ j << 4);
      sparse_mma_of<T>::run(d[I][j], a, b, metadata);
    }
  }

  // All kinds but the first.
  __device__ __forceinline__ void multiply_others(int stage, const chunk_head &head)
  {
    const uint32_t left = head.left >> first, right = head.right >> first;
    const uint32_t ordered = head.ordered >> first;
    if (((left | right | ordered) & 0xf000f) == 0) return;
#pragma unroll 1
    for (int strip = 0; strip < 2; strip++) {
      if (left >> 16 * strip & 15) multiply_side(stage, strip, 0, left);
      if (right >> 16 * strip & 15) multiply_side(stage, strip, 1, right);
      if (has(ordered, strip, 0)) multiply_ordered<0>(stage, strip);
      if (has(ordered, strip, 1)) multiply_ordered<1>(stage, strip);
      if (has(ordered, strip, 2)) multiply_ordered<2>(stage, strip);
      if (has(ordered, strip, 3)) multiply_ordered<3>(stage, strip);
    }
  }

  // The chunks of the warp's group.
  __device__ __forceinline__ void follow(const block_place &place)
  {
    stage_place<Shape> at;
    at.stage = group;
#pragma unroll 1
    for (int i = group; i < place.chunks; i += Shape::kGroups, at.advance(Shape::kGroups)) {
      ptx::mbarrier_wait(base + Shape::kFull + 8 * at.stage, at.parity);
      const int stage = at.stage * Shape::kStageBytes;
      const chunk_head &head = *reinterpret_cast<const chunk_head *>(shared + stage + Shape::kHead);
      const uint32_t natural = head.natural >> first & 0xf000f;
      if (natural == 0xf000f)
        multiply_natural<true>(stage, natural);
      else if (natural != 0)
        multiply_natural<false>(stage, natural);
      multiply_others(stage, head);
      __syncwarp(); // all lanes have read; then a plain arrival, of no bytes
      if (lane == 0) ptx::mbarrier_arrive_expect(base + Shape::kEmpty + 8 * at.stage, 0);
    }
  }

  // The sums, [64][kPitch], for others to read.
  __device__ __forceinline__ void write_image(float *to) const
  {
    to += lane / 4 * Shape::kPitch + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < kTiles; i++)
#pragma unroll
      for (int j = 0; j < kPieces; j++)
#pragma unroll
        for (int h = 0; h < 2; h++)
          *reinterpret_cast<float2 *>(to + (16 * i + 8 * h) * Shape::kPitch + 8 * j) =
              make_float2(d[i][j][2 * h], d[i][j][2 * h + 1]);
  }
};

} // namespace tile
} // namespace shunt
