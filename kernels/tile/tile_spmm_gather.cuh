// tile_spmm_gather.cuh: one block row of A (16 rows) times 64 columns of B by a warp, or by Split
// warps of a block, A with merged columns (tile_format.h).
//
// A step is 32 rows of B: a 2:4 tile, or two halves of dense ones.  All that it needs comes by
// cp.async into a ring of the warp's own, some steps ahead, so that no register and no other warp
// waits for it:
//
//     stage    b[32][8]    row of B at position r, its 16-byte piece c at place c ^ (r % 8)
//              a[64]       2:4: values, 512 bytes, then 64 of metadata; dense: both halves' values
//              rows[8]     the names of the rows of B of the step that is sent for when this one
//                          has been multiplied
//
//     gather   | 3 | 17 | 18 | 40 | ..      a cp.async of the warp takes four rows, 128 bytes each
//                |    |
//                v    v
//     stage    |row 3|row 17| ..            ldmatrix.x4.trans: 32 rows x 8 columns, the operand of
//                                           one mma.sp, or of an mma for each half
//
// (More stages leave room for fewer warps and were slower by 10 to 30 %: results/tile/steps.txt.)
//
// Rows stand by position, so that no order of a tile's columns makes banks clash, and rows of B
// that no entry of the block row meets are not read.  The sums leave through the ring too, so
// that C is written by whole runs of 16 bytes; Split warps' sums are added there in order.
//
// Bound: B, 4 KB a warp and step out of L1 and L2 at 8.5 TB/s: steps x columns x 64 bytes.  So it
// is for matrices whose block rows share few columns; where most tiles are there, the blocked
// kernel brings B once for eight block rows.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/tile/tile_spmm_common.cuh"

namespace shunt
{
namespace tile
{

constexpr int kGatherTile = 64, kGatherStages = 2;
// Of a block: small ones, so that many fit beside each other.
__host__ __device__ constexpr int gather_warps(int split)
{
  return split > 4 ? split : 4;
}
constexpr int kGatherPitch = kGatherTile + 4; // floats from a row of the image of C to the next

struct gather_stage {
  uint4 b[kStrip * kGatherTile / 8], a[64], rows[8];
};
static_assert(kRows * kGatherPitch * sizeof(float) <= sizeof(gather_stage),
              "an image fits a stage");
// Blocks of a multiprocessor: as many as have room for their rings.
constexpr int gather_blocks(int split)
{
  return split > 4 ? 2 : 5;
}
// Blocks of a multiprocessor with the warps that prove beside them (tile_spmm_proved.cuh): as
// many as have room for their rings and registers.
constexpr int proved_blocks(int split)
{
  return split > 4 ? 2 : 4;
}
// The rings of a block.
constexpr int gather_bytes(int split)
{
  return gather_warps(split) * kGatherStages * static_cast<int>(sizeof(gather_stage));
}

// Sparse: tiles may be 2:4; else all are dense.
template <class T, bool Sparse> struct gatherer {
  const arguments &p;
  gather_stage *ring; // this warp's, [kGatherStages]
  int column0, lane;
  uint32_t tile, half, half_end; // the block row's first ones
  int tiles, steps;
  float d[kGatherTile / 8][4];

  __device__ __forceinline__ gatherer(const arguments &p_, gather_stage *ring_, int block,
                                      int column0_)
      : p(p_), ring(ring_), column0(column0_), lane(threadIdx.x % 32), tile(0), half(0),
        half_end(0), tiles(0), steps(0), d{}
  {
    if (block >= p.blocks) return;
    if constexpr (Sparse) {
      tile = p.v.sparse.begin[block];
      tiles = static_cast<int>(p.v.sparse.begin[block + 1] - tile);
    }
    half = p.v.dense.begin[block];
    half_end = p.v.dense.begin[block + 1];
    steps = tiles + static_cast<int>((half_end - half + 1) / 2);
  }

  __device__ __forceinline__ bool is_sparse(int i) const { return Sparse && i < tiles; }

  // The first half of a dense step; the last half may stand alone.
  __device__ __forceinline__ uint32_t left(int i) const { return half + 2 * (i - tiles); }

  // Where the rows of B at positions 4q .. 4q + 3 of step i are named.  Where a half is missing:
  // those of the one that is there.
  __device__ __forceinline__ const uint4 *rows_of(int i, int q) const
  {
    if (is_sparse(i))
      return reinterpret_cast<const uint4 *>(p.v.sparse.gather) +
             static_cast<int64_t>(tile + i) * 8 + q;
    const bool whole = left(i) + 1 < half_end;
    return reinterpret_cast<const uint4 *>(p.v.dense.gather) + static_cast<int64_t>(left(i)) * 4 +
           (whole ? q : q % 4);
  }

  __device__ __forceinline__ static void copy(uint4 *to, const void *from, int bytes)
  {
    ptx::cp_async_16(ptx::shared_address(to), from, bytes);
  }

  __device__ __forceinline__ void fetch_a(int i, gather_stage &to) const
  {
    if (is_sparse(i)) {
      const int64_t at = tile + i;
      copy(&to.a[lane], reinterpret_cast<const uint4 *>(p.v.sparse.values) + at * 32 + lane, 16);
      if (lane < SHUNT_TILE_WORDS / 4)
        copy(&to.a[32 + lane],
             reinterpret_cast<const uint4 *>(p.v.metadata) + at * (SHUNT_TILE_WORDS / 4) + lane,
             16);
      return;
    }
    const uint4 *from = reinterpret_cast<const uint4 *>(p.v.dense.values) +
                        static_cast<int64_t>(left(i)) * 32 + lane;
    const bool whole = left(i) + 1 < half_end;
    copy(&to.a[lane], from, 16);
    copy(&to.a[32 + lane], whole ? from + 32 : from, whole ? 16 : 0);
  }

  // rows: of B, at positions 8 (lane / 8) .. + 7.  Zeros beyond B's last column.  later: the step
  // whose rows' names come with it.
  __device__ __forceinline__ void fetch(int i, const uint4 (&rows)[2], int stage, int later) const
  {
    if (i < steps) {
      gather_stage &to = ring[stage];
      const uint32_t from[8] = {rows[0].x, rows[0].y, rows[0].z, rows[0].w,
                                rows[1].x, rows[1].y, rows[1].z, rows[1].w};
      const int piece = lane % 8, column = column0 + piece * 8;
      const bool inside = column < p.n;
      const char *b = p.b + (inside ? column * 2 : 0);
#pragma unroll
      for (int j = 0; j < 8; j++)
        copy(&to.b[(lane / 8 * 8 + j) * 8 + (piece ^ j)], b + from[j] * p.b_row_bytes,
             inside ? 16 : 0);
      fetch_a(i, to);
      if (later < steps && lane < 8) copy(&to.rows[lane], rows_of(later, lane), 16);
    }
    ptx::cp_async_commit();
  }

  __device__ __forceinline__ void multiply(int i, int stage)
  {
    const gather_stage &from = ring[stage];
    const uint4 x = from.a[lane], y = from.a[32 + lane];
    const uint32_t word = reinterpret_cast<const uint32_t *>(from.a + 32)[lane / 4 * 2 + lane % 2];
    const uint32_t a0[4] = {x.x, x.y, x.z, x.w}, a1[4] = {y.x, y.y, y.z, y.w};
    const uint32_t row = ptx::shared_address(&from.b[lane * 8]);
    // All of B first: a fragment at a time would wait for each ldmatrix in turn.
    uint32_t b[kGatherTile / 8][4];
#pragma unroll
    for (int n = 0; n < kGatherTile / 8; n++)
      ptx::ldmatrix_x4_trans(b[n], row + ((n ^ lane % 8) * 16));
    if (is_sparse(i)) {
#pragma unroll
      for (int n = 0; n < kGatherTile / 8; n++) sparse_mma_of<T>::run(d[n], a0, b[n], word);
      return;
    }
#pragma unroll
    for (int n = 0; n < kGatherTile / 8; n++) {
      const uint32_t upper[2] = {b[n][0], b[n][1]}, lower[2] = {b[n][2], b[n][3]};
      mma_of<T>::run(d[n], a0, upper);
      mma_of<T>::run(d[n], a1, lower);
    }
  }

  // Steps first, first + by, ..  A stage is sent for again as soon as it has been multiplied, so
  // that all but one are always on their way.
  __device__ __forceinline__ void walk(int first, int by)
  {
    const int q = lane / 8 * 2;
    uint4 rows[kGatherStages][2];
#pragma unroll
    for (int s = 0; s < kGatherStages; s++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        rows[s][h] =
            first + s * by < steps ? __ldg(rows_of(first + s * by, q + h)) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int s = 0; s < kGatherStages; s++)
      fetch(first + s * by, rows[s], s, first + (s + kGatherStages) * by);
    int stage = 0;
    for (int i = first; i < steps; i += by) {
      ptx::cp_async_wait<kGatherStages - 1>();
      __syncwarp(); // the stage is there for all lanes
      const uint4 next[2] = {ring[stage].rows[q], ring[stage].rows[q + 1]};
      multiply(i, stage);
      __syncwarp(); // and all are done with it
      fetch(i + kGatherStages * by, next, stage, i + 2 * kGatherStages * by);
      stage = stage + 1 == kGatherStages ? 0 : stage + 1;
    }
    ptx::cp_async_wait<0>();
    __syncwarp();
  }

  // Lane (g, t) holds rows g and g + 8, columns 8 n + 2 t and the next.
  __device__ __forceinline__ void write_image() const
  {
    float *image = reinterpret_cast<float *>(ring) + lane / 4 * kGatherPitch + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < kGatherTile / 8; n++) {
      *reinterpret_cast<float2 *>(image + 8 * n) = make_float2(d[n][0], d[n][1]);
      *reinterpret_cast<float2 *>(image + 8 * kGatherPitch + 8 * n) = make_float2(d[n][2], d[n][3]);
    }
  }

  // A whole unit of C in a 16-bit type, through an image of it.  False: that takes more, and
  // nothing has been done.
  template <class Out>
  __device__ __forceinline__ bool store_plainly(float alpha, float beta, int64_t row0) const
  {
    using pair = vec<Out, 2>;
    constexpr int kPitch = kGatherTile / 2 + 4; // pairs from row to row: no banks clash
    float odd[4] = {};                          // NaN where a sum is NaN (or Inf)
#pragma unroll
    for (int n = 0; n < kGatherTile / 8; n++)
#pragma unroll
      for (int i = 0; i < 4; i++) odd[i] = fmaf(d[n][i], 0.0f, odd[i]);
    const float any = odd[0] + odd[1] + (odd[2] + odd[3]);
    if (!p.c_wide || beta != 0.0f || p.n % 8 != 0 || __any_sync(0xffffffffu, any != any))
      return false;

    pair *to = reinterpret_cast<pair *>(ring) + lane / 4 * kPitch + lane % 4;
#pragma unroll
    for (int n = 0; n < kGatherTile / 8; n++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        to[8 * h * kPitch + 4 * n] = pair{
            {narrow<Out>(scale(alpha, d[n][2 * h])), narrow<Out>(scale(alpha, d[n][2 * h + 1]))}};
    __syncwarp();
    const int column = column0 + lane % 8 * 8;
    const uint4 *from = reinterpret_cast<const uint4 *>(ring) + lane / 8 * (kPitch / 4) + lane % 8;
    Out *c = static_cast<Out *>(p.c) + (row0 + lane / 8) * p.c_row_stride + column;
#pragma unroll
    for (int i = 0; i < kRows; i += 4)
      if (row0 + lane / 8 + i < p.rows && column < p.n)
        *reinterpret_cast<uint4 *>(c + i * p.c_row_stride) = from[i * (kPitch / 4)];
    return true;
  }
};

// Of the warps that share a unit of C, or of all warps of the block: so many take part.
constexpr int kUnitBarrier = 1;
template <int Split> __device__ __forceinline__ void unit_barrier()
{
  if (Split > 1)
    __barrier_sync_count(kUnitBarrier, gather_warps(Split) * 32);
  else
    __syncwarp();
}

// store_run() where it has more to do than to store.
template <class T, class Out, int Count>
__device__ __noinline__ void store_others(const arguments &p, float alpha, float beta, int64_t row,
                                          int column, vec<float, Count> v)
{
  store_run<T, Out>(p, p.c_wide, alpha, beta, row, column, v.at);
}

// store_run(), most often a few instructions.  Those of NaN, edges and C's old content stand apart:
// in line, they cost each unit 4500 cycles, half of what its walk takes.
template <class T, class Out, int Count>
__device__ __forceinline__ void store_sums(const arguments &p, float alpha, float beta, int64_t row,
                                           int column, const float (&v)[Count])
{
  bool plain = p.c_wide && beta == 0.0f && column + Count <= p.n;
  vec<float, Count> sums;
  vec<Out, Count> out;
#pragma unroll
  for (int i = 0; i < Count; i++) {
    plain &= v[i] == v[i];
    sums.at[i] = v[i];
    out.at[i] = narrow<Out>(scale(alpha, v[i]));
  }
  if (plain)
    *reinterpret_cast<vec<Out, Count> *>(static_cast<Out *>(p.c) + row * p.c_row_stride + column) =
        out;
  else
    store_others<T, Out, Count>(p, alpha, beta, row, column, sums);
}

// The units of piece number `piece`, by the first gather_warps(Split) warps of the block.  Narrow:
// through images in C's type where that is possible (no gain was seen beside warps that prove).
template <class T, class Out, bool Sparse, int Split, bool Narrow>
__device__ __forceinline__ void multiply_units(const arguments &p, unsigned char *shared, int piece)
{
  gather_stage *rings = reinterpret_cast<gather_stage *>(shared);
  const int warp = threadIdx.x / 32;
  const int wide = (p.n + kGatherTile - 1) / kGatherTile;
  const int64_t unit = static_cast<int64_t>(piece) * (gather_warps(Split) / Split) + warp / Split;
  const int block = static_cast<int>(unit / wide);
  const int column0 = static_cast<int>(unit % wide) * kGatherTile;
  const int64_t row0 = static_cast<int64_t>(block) * kRows;
  {
    gatherer<T, Sparse> w(p, rings + warp * kGatherStages, block, column0);
    w.walk(warp % Split, Split);
    if constexpr (Narrow && Split == 1 && sizeof(Out) == 2)
      if (w.template store_plainly<Out>(p.alpha.get(), p.beta.get(), row0)) return;
    w.write_image();
  }
  unit_barrier<Split>();

  constexpr int kWide = 16 / sizeof(Out), kRuns = kGatherTile / kWide;
  const float alpha = p.alpha.get(), beta = p.beta.get();
  for (int i = warp % Split * 32 + threadIdx.x % 32; i < kRows * kRuns; i += Split * 32) {
    const int row = i / kRuns, column = i % kRuns * kWide;
    if (row0 + row >= p.rows || column0 + column >= p.n) continue;
    float v[kWide] = {};
    for (int s = 0; s < Split; s++) {
      const float *image =
          reinterpret_cast<const float *>(rings + (warp / Split * Split + s) * kGatherStages) +
          row * kGatherPitch + column;
#pragma unroll
      for (int k = 0; k < kWide; k += 4) {
        const float4 x = *reinterpret_cast<const float4 *>(image + k);
        v[k] += x.x, v[k + 1] += x.y, v[k + 2] += x.z, v[k + 3] += x.w;
      }
    }
    store_sums<T, Out>(p, alpha, beta, row0 + row, column0 + column, v);
  }
}

template <class T, class Out, bool Sparse, int Split>
__global__ void __launch_bounds__(gather_warps(Split) * 32, gather_blocks(Split))
    spmm_gather(const __grid_constant__ arguments p)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  if (p.next_waits) let_next_in();
  multiply_units<T, Out, Sparse, Split, true>(p, shared, blockIdx.x);
}

} // namespace tile
} // namespace shunt
