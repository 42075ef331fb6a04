// spmm_tile24_blocked_multiply.cuh: a warp that multiplies: four block rows x 64 columns of C.
//
// The fragment of B that ldmatrix.x4.trans brings for 32 rows x 8 columns is the B operand of
// mma.sp.m16n8k32, and its two halves are those of mma.m16n8k16 for a dense tile's two halves.  So
// one set of eight (32 registers) serves all four block rows:
//
//                 B, 32 x 64: 8 fragments, one ldmatrix each
//               +---+---+---+---+---+---+---+---+
//   4 tiles     |   |   |   |   |   |   |   |   |
//     2:4       | d[0][0..7]                    |     mma.sp
//     dense     | d[1][0..7]                    |     mma, mma
//     none      |                               |
//     ordered   | fragments of its own          |     ldmatrix by order, mma.sp
//               +---+---+---+---+---+---+---+---+
#pragma once
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/spmm_tile24_blocked_shape.cuh"

namespace shunt
{
namespace tile24
{

template <class T, class Shape> struct multiplier {
  static constexpr int kTiles = 4, kPieces = 8; // block rows; fragments of B in 64 columns,
  static constexpr int kHalf = 4;               // held at once where tiles differ

  const arguments &p;
  const unsigned char *shared;
  uint32_t base;
  int lane, group, row_warp, column_warp;
  float d[kTiles][kPieces][4];

  __device__ __forceinline__ multiplier(const arguments &p_, const unsigned char *shared_,
                                        uint32_t base_)
      : p(p_), shared(shared_), base(base_), lane(threadIdx.x % 32)
  {
    const int warp = threadIdx.x / 32, in_group = warp % Shape::kGroupWarps;
    group = warp / Shape::kGroupWarps;
    row_warp = in_group / Shape::kColumnWarps, column_warp = in_group % Shape::kColumnWarps;
#pragma unroll
    for (int i = 0; i < kTiles; i++)
#pragma unroll
      for (int j = 0; j < kPieces; j++)
#pragma unroll
        for (int k = 0; k < 4; k++)
          d[i][j][k] = 0.0f;
  }

  // ---- operands of the stage that starts at byte `stage` of shared memory
  // ------------------------------------------------------------------------

  // half: 0, or 1 for the right half of a dense tile.
  __device__ __forceinline__ void load_a(uint32_t (&a)[4], int stage, int i, int half) const
  {
    const int at = stage + Shape::kValues + (row_warp * kTiles + i) * 1024;
    const uint4 v = *reinterpret_cast<const uint4 *>(shared + at + half * 512 + lane * 16);
    a[0] = v.x, a[1] = v.y, a[2] = v.z, a[3] = v.w;
  }
  __device__ __forceinline__ uint32_t load_metadata(int stage, int i) const
  {
    const int at = stage + Shape::kMetadata + (row_warp * kTiles + i) * 64;
    return *reinterpret_cast<const uint32_t *>(shared + at + (lane / 4 * 2 + lane % 2) * 4);
  }
  __device__ __forceinline__ const unsigned char *orders(int stage) const
  {
    return shared + stage + Shape::kOrder + row_warp * kTiles * kStrip;
  }
  // The lane's address for ldmatrix: piece 0 of a row of the strip.  Piece c: ^ c << 4.
  __device__ __forceinline__ uint32_t row_at(int stage, int row) const
  {
    return base + stage + column_warp * Shape::kPlaneBytes + row * 128 + (row % 8 << 4);
  }
  // Fragments of B for First .. First + kHalf - 1 of the eight.
  template <int First>
  __device__ __forceinline__ void load_b(uint32_t (&b)[kHalf][4], int stage) const
  {
    const uint32_t at = row_at(stage, lane);
#pragma unroll
    for (int j = 0; j < kHalf; j++)
      ptx::ldmatrix_x4_trans(b[j], at ^ (First + j) << 4);
  }

  // Which of the four tiles' columns stand as they are.  Lane l looks at four: 4 (l % 8) .. of tile
  // l / 8.
  __device__ __forceinline__ uint32_t find_natural(int stage) const
  {
    if (!p.v.order) return 15;
    const uint32_t four = *reinterpret_cast<const uint32_t *>(orders(stage) + lane * 4);
    const uint32_t same = __ballot_sync(0xffffffffu, four == 0x03020100u + lane % 8 * 0x04040404u);
    uint32_t natural = 0;
#pragma unroll
    for (int i = 0; i < kTiles; i++)
      natural |= uint32_t((same >> 8 * i & 0xff) == 0xff) << i;
    return natural;
  }

  // ---- products ------------------------------------------------------------------------

  // Four 2:4 tiles, B the same for all: the whole of a pruned matrix is made of this.
  __device__ __forceinline__ void multiply_four(int stage)
  {
    uint32_t a[kTiles][4], metadata[kTiles];
#pragma unroll
    for (int i = 0; i < kTiles; i++) {
      load_a(a[i], stage, i, 0);
      metadata[i] = load_metadata(stage, i);
    }
    const uint32_t at = row_at(stage, lane);
#pragma unroll
    for (int j = 0; j < kPieces; j++) {
      uint32_t b[4];
      ptx::ldmatrix_x4_trans(b, at ^ j << 4);
#pragma unroll
      for (int i = 0; i < kTiles; i++)
        sparse_mma_of<T>::run(d[i][j], a[i], b, metadata[i]);
    }
  }

  // The same halves of four dense tiles.  An ldmatrix brings 16 rows x 16 columns of B.
  template <int Side> __device__ __forceinline__ void multiply_four_sides(int stage)
  {
    uint32_t a[kTiles][4];
#pragma unroll
    for (int i = 0; i < kTiles; i++)
      load_a(a[i], stage, i, Side);
    const uint32_t at = row_at(stage, Side * SHUNT_TILE24_HALF + lane % 16) ^ lane / 16 << 4;
#pragma unroll
    for (int j = 0; j < kPieces; j += 2) {
      uint32_t b[4];
      ptx::ldmatrix_x4_trans(b, at ^ j << 4);
      const uint32_t first[2] = {b[0], b[1]}, second[2] = {b[2], b[3]};
#pragma unroll
      for (int i = 0; i < kTiles; i++) {
        mma_of<T>::run(d[i][j], a[i], first);
        mma_of<T>::run(d[i][j + 1], a[i], second);
      }
    }
  }

  // ---- products of tiles that differ -------------------------------------------------------

  template <int First>
  __device__ __forceinline__ void multiply_24(int stage, int i, const uint32_t (&b)[kHalf][4])
  {
    uint32_t a[4];
    load_a(a, stage, i, 0);
    const uint32_t metadata = load_metadata(stage, i);
#pragma unroll
    for (int j = 0; j < kHalf; j++)
      sparse_mma_of<T>::run(d[i][First + j], a, b[j], metadata);
  }
  template <int First, int Side>
  __device__ __forceinline__ void multiply_side(int stage, int i, const uint32_t (&b)[kHalf][4])
  {
    uint32_t a[4];
    load_a(a, stage, i, Side);
#pragma unroll
    for (int j = 0; j < kHalf; j++) {
      const uint32_t side[2] = {b[j][2 * Side], b[j][2 * Side + 1]};
      mma_of<T>::run(d[i][First + j], a, side);
    }
  }
  __device__ __forceinline__ void multiply_ordered(int stage, int i)
  {
    uint32_t a[4];
    load_a(a, stage, i, 0);
    const uint32_t metadata = load_metadata(stage, i);
    const uint32_t at = row_at(stage, orders(stage)[i * kStrip + lane]);
#pragma unroll
    for (int j = 0; j < kPieces; j++) {
      uint32_t b[4];
      ptx::ldmatrix_x4_trans(b, at ^ j << 4);
      sparse_mma_of<T>::run(d[i][j], a, b, metadata);
    }
  }

  // kinds: four times one bit for each of the four block rows.  kNatural: a 2:4 tile as it stands;
  // kLeft, kRight: half a dense tile; kOrdered: a 2:4 tile in another order.
  enum : uint32_t { kNatural = 1u, kLeft = 1u << 4, kRight = 1u << 8, kOrdered = 1u << 12 };

  template <int First> __device__ __forceinline__ void multiply_shared(int stage, uint32_t kinds)
  {
    uint32_t b[kHalf][4];
    load_b<First>(b, stage);
#pragma unroll
    for (int i = 0; i < kTiles; i++) {
      if (kinds & kNatural << i) multiply_24<First>(stage, i, b);
      if (kinds & kLeft << i) multiply_side<First, 0>(stage, i, b);
      if (kinds & kRight << i) multiply_side<First, 1>(stage, i, b);
    }
  }
  __device__ __forceinline__ void multiply_mixed(int stage, uint32_t kinds)
  {
    if (kinds & (kOrdered - 1)) {
      multiply_shared<0>(stage, kinds);
      multiply_shared<kHalf>(stage, kinds);
    }
    if (kinds < kOrdered) return;
#pragma unroll
    for (int i = 0; i < kTiles; i++)
      if (kinds & kOrdered << i) multiply_ordered(stage, i);
  }

  // False: the stage says that there are no more.
  __device__ __forceinline__ bool multiply(int stage)
  {
    const stage_head head = *reinterpret_cast<const stage_head *>(shared + stage + Shape::kHead);
    if (head.right & stage_head::kEnd) return false;
    const int first = row_warp * kTiles;
    const uint32_t sparse = head.sparse_left >> first & 15;
    const uint32_t left = head.sparse_left >> (16 + first) & 15, right = head.right >> first & 15;
    const uint32_t natural = sparse & find_natural(stage);
    if (natural == 15) {
      multiply_four(stage);
    } else if (left == 15 && right == 15) {
      multiply_four_sides<0>(stage);
      multiply_four_sides<1>(stage);
    } else {
      multiply_mixed(stage, natural * kNatural | left * kLeft | right * kRight |
                                (sparse ^ natural) * kOrdered);
    }
    return true;
  }

  // The strips of the warp's group.
  __device__ __forceinline__ void follow()
  {
    stage_place<Shape> at;
#pragma unroll 1
    for (at.stage = group;; at.advance(Shape::kGroups)) {
      while (!ptx::mbarrier_try_wait(base + Shape::kFull + 8 * at.stage, at.parity)) {
      }
      if (!multiply(at.stage * Shape::kStageBytes)) return;
      __syncwarp();
      // To all that share the strip; p.cluster is a power of two.
      const uint32_t first = ptx::cluster_rank() & -p.cluster;
      if (lane < p.cluster)
        ptx::mbarrier_arrive_at(base + Shape::kEmpty + 8 * at.stage, first + lane);
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

} // namespace tile24
} // namespace shunt
