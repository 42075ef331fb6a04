// tile_mixed_spmm.cuh: 8 block rows of A (128 rows) times Tile columns of B by one block of 8
// warps, each with its block row.
//
// B passes through shared memory strip by strip, 32 rows x Tile columns, brought by cp.async
// a few strips ahead, so that a strip is fetched once for all block rows that have a tile there; a
// strip that none of them has is skipped.  Which these are is marked beforehand, as bits:
//
//   block row 0   | x |   | x |   |        warp 0
//   block row 1   |   |   | x | x |        warp 1     x: a tile, 2:4 or dense
//      ..
//   marks           1   0   1   1          strips 0, 2, 3 are fetched
//
// Matrices of more than kMarks strips (262,144 columns) are walked in parts of so many.
//
// A 2:4 tile is multiplied by mma.sp.m16n8k32, whose four registers of B ldmatrix brings at
// once; lane l gives the address of row order[l] of the strip, so that the order of the
// tile's columns costs nothing.  Half a dense tile: mma.m16n8k16, two for each ldmatrix.
//
//   strip    row r: 16-byte piece c stands at place c ^ (r % 8), so that eight rows
//            that follow each other lie on different banks (reordered ones: mostly)
//
// A warp holds the next tile of either list in registers, loaded when the one before was
// taken: 16 bytes of values a lane, its word of metadata, its row of the strip.
//
// Bound: every mma.sp takes 512 bytes of B from shared memory, 4 cycles at 128 bytes a cycle, so
// a multiprocessor makes at most 512 multiplications of packed values a cycle; half a dense
// tile takes 256 bytes.  From L2: strips fetched x Tile x 64 bytes for each 128 rows.  Measured,
// 4096^2 with all tiles 2:4: 115 us for N = 128, 361 for N = 2048, a tenth to a fifth of the bound.
#pragma once
#include "kernels/ptx/ldst.cuh"
#include "kernels/tile/tile_spmm_common.cuh"

namespace shunt
{
namespace tile
{

constexpr int kWarps = 8, kThreads = kWarps * 32;
constexpr int kStages = 4;
constexpr int kMarks = 8192; // strips

// The next tile of a list; the same in all lanes but where said.
struct tile_cursor {
  uint32_t next, end;
  uint32_t column; // ~0: no tile is left
  uint4 values;    // lane's
  uint32_t metadata, row;

  template <bool Sparse> __device__ __forceinline__ void load(const struct shunt_tile &v)
  {
    const struct shunt_tile_list &list = Sparse ? v.sparse : v.dense;
    const int lane = threadIdx.x % 32;
    const uint64_t tile = next;
    column = ~0u;
    if (next >= end) return;
    column = list.column[tile];
    values = __ldg(reinterpret_cast<const uint4 *>(list.values) + tile * 32 + lane);
    if (!Sparse) return;
    metadata = v.metadata[tile * SHUNT_TILE_WORDS + lane / 4 * 2 + lane % 2];
    row = v.order ? v.order[tile * kStrip + lane] : lane;
  }
  template <bool Sparse>
  __device__ __forceinline__ void start(const struct shunt_tile &v, int block)
  {
    const struct shunt_tile_list &list = Sparse ? v.sparse : v.dense;
    next = end = 0;
    values = make_uint4(0, 0, 0, 0);
    metadata = row = 0;
    if (block < v.blocks) next = list.begin[block], end = list.begin[block + 1];
    load<Sparse>(v);
  }
};

template <class T, class Out, int Tile> struct worker {
  static constexpr int kPieces = Tile / 8; // of 16 bytes in a row of a strip
  static constexpr int kStripBytes = kStrip * Tile * 2;

  const arguments &p;
  char *strips;    // shared, [kStages][kStripBytes]
  uint32_t *marks; // shared, [kMarks / 32]
  int first_strip; // of this part of the matrix
  tile_cursor sparse, dense;
  float d[kPieces][4];

  // ---- strips ------------------------------------------------------------------------

  template <bool Sparse> __device__ __forceinline__ void mark(const tile_cursor &from)
  {
    const uint32_t *column = Sparse ? p.v.sparse.column : p.v.dense.column;
    for (uint32_t i = from.next + threadIdx.x % 32; i < from.end; i += 32) {
      const uint32_t strip = (Sparse ? column[i] : column[i] / 2) - first_strip;
      if (strip >= kMarks) break;
      atomicOr(&marks[strip / 32], 1u << strip % 32);
    }
  }

  __device__ __forceinline__ void mark_strips()
  {
    for (int i = threadIdx.x; i < kMarks / 32; i += kThreads) marks[i] = 0;
    __syncthreads();
    mark<true>(sparse);
    mark<false>(dense);
    __syncthreads();
  }

  // The first marked strip from `strip` on; kMarks when there is none.
  __device__ __forceinline__ int next_marked(int strip) const
  {
    int word = strip / 32;
    if (strip >= kMarks) return kMarks;
    uint32_t rest = marks[word] >> strip % 32 << strip % 32;
    while (rest == 0)
      if (++word == kMarks / 32)
        return kMarks;
      else
        rest = marks[word];
    return word * 32 + __ffs(rest) - 1;
  }

  __device__ __forceinline__ char *piece_at(int stage, int row, int piece) const
  {
    return strips + stage * kStripBytes + row * (Tile * 2) + ((piece ^ row % 8) * 16);
  }

  // Brings a strip, zeros beyond B's edges.
  __device__ __forceinline__ void fetch(int strip, int stage) const
  {
    const int column0 = blockIdx.y * Tile;
    for (int i = threadIdx.x; i < kStrip * kPieces; i += kThreads) {
      const int row = i / kPieces, piece = i % kPieces;
      const int64_t k = static_cast<int64_t>(first_strip + strip) * kStrip + row;
      const bool inside = k < p.k && column0 + piece * 8 < p.n;
      const char *from = p.b + (inside ? k * p.b_row_bytes + (column0 + piece * 8) * 2 : 0);
      ptx::cp_async_16(ptx::shared_address(piece_at(stage, row, piece)), from, inside ? 16 : 0);
    }
  }

  // ---- products ------------------------------------------------------------------------

  __device__ __forceinline__ void multiply_24(int stage)
  {
    const uint32_t a[4] = {sparse.values.x, sparse.values.y, sparse.values.z, sparse.values.w};
    const uint32_t metadata = sparse.metadata;
    const int row = sparse.row;
    sparse.next++;
    sparse.load<true>(p.v);
#pragma unroll
    for (int i = 0; i < kPieces; i++) {
      uint32_t b[4];
      ptx::ldmatrix_x4_trans(b, ptx::shared_address(piece_at(stage, row, i)));
      sparse_mma_of<T>::run(d[i], a, b, metadata);
    }
  }

  __device__ __forceinline__ void multiply_half(int stage)
  {
    const int lane = threadIdx.x % 32;
    const uint32_t a[4] = {dense.values.x, dense.values.y, dense.values.z, dense.values.w};
    const int row = dense.column % 2 * SHUNT_TILE_HALF + lane % 16;
    dense.next++;
    dense.load<false>(p.v);
#pragma unroll
    for (int i = 0; i < kPieces; i += 2) {
      uint32_t b[4];
      ptx::ldmatrix_x4_trans(b, ptx::shared_address(piece_at(stage, row, i + lane / 16)));
      const uint32_t left[2] = {b[0], b[1]}, right[2] = {b[2], b[3]};
      mma_of<T>::run(d[i], a, left);
      mma_of<T>::run(d[i + 1], a, right);
    }
  }

  __device__ __forceinline__ void multiply(int strip, int stage)
  {
    const uint32_t now = first_strip + strip;
    if (sparse.column == now) multiply_24(stage);
    while (dense.column / 2 == now) multiply_half(stage);
  }

  // The marked strips of one part of the matrix.  All threads find the same.
  __device__ __forceinline__ void walk()
  {
    int coming = next_marked(0), now = coming, stage = 0;
    for (int s = 0; s < kStages - 1; s++) {
      if (coming < kMarks) fetch(coming, s), coming = next_marked(coming + 1);
      ptx::cp_async_commit();
    }
    while (now < kMarks) {
      ptx::cp_async_wait<kStages - 2>();
      __syncthreads(); // this strip is there for all, and the one before is done with
      if (coming < kMarks) {
        fetch(coming, (stage + kStages - 1) % kStages);
        coming = next_marked(coming + 1);
      }
      ptx::cp_async_commit();
      multiply(now, stage);
      now = next_marked(now + 1);
      stage = (stage + 1) % kStages;
    }
    ptx::cp_async_wait<0>();
    __syncthreads();
  }

  __device__ __forceinline__ void store(int block)
  {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const float alpha = p.alpha.get(), beta = p.beta.get();
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int64_t row = static_cast<int64_t>(block) * kRows + g + 8 * h;
      if (row >= p.rows) return;
#pragma unroll
      for (int i = 0; i < kPieces; i++) {
        const int column = blockIdx.y * Tile + i * 8 + 2 * t;
        float v[2] = {d[i][2 * h], d[i][2 * h + 1]};
        if (column < p.n) store_run<T, Out>(p, p.c_pairs, alpha, beta, row, column, v);
      }
    }
  }
};

template <class T, class Out, int Tile>
__global__ void __launch_bounds__(kThreads, 2) spmm_tile(const __grid_constant__ arguments p)
{
  __shared__ __align__(16) char strips[kStages * worker<T, Out, Tile>::kStripBytes];
  __shared__ uint32_t marks[kMarks / 32];
  const int block = blockIdx.x * kWarps + threadIdx.x / 32;
  worker<T, Out, Tile> w = {p, strips, marks, 0, {}, {}, {}};
  w.sparse.template start<true>(p.v, block);
  w.dense.template start<false>(p.v, block);
  const int count = (p.k + kStrip - 1) / kStrip;
  for (; w.first_strip < count; w.first_strip += kMarks) {
    w.mark_strips();
    w.walk();
  }
  if (block < p.blocks) w.store(block);
}

} // namespace tile
} // namespace shunt
