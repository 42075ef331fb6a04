// tile_steps.cu: the thesis' kernels on 2:4 tiles, step by step (tile_steps.h).
//
//     A, 16 rows                     B, 32 rows x 8 columns       C, 16 x 8, f32
//     +--------+--------+--          +---+                        +---+
//     | tile   | tile   |       x    |   | 16 bytes a row:   =    |   | a warp
//     +--------+--------+--          |   | one piece a lane       +---+
//                                    +---+
//
// Nothing of B is used twice: 512 bytes for each mma.sp, 256 for each mma.  Bound: B out of L2 and
// L1, tiles x n x 64 bytes, as in any kernel without reuse, but by pieces of 16 bytes instead
// of lines; and one tile's latency after the other.
#include "kernels/ptx/ldst.cuh"
#include "kernels/tile/tile_spmm_common.cuh"
#include "tests/bench/ablation/tile_steps.h"

namespace shunt
{
namespace tile
{

enum fetch { DIRECT, SHARED, ASYNC, OVERLAPPED };
enum kinds { DENSE_ONLY, BY_COLUMN, SEPARATE };

constexpr int kStepWarps = 4, kStepTile = 8;

// What a warp keeps of a tile in shared memory.
struct step_buffer {
  uint4 b[32], a[32];
  uint32_t metadata[SHUNT_TILE_WORDS];
};

struct step_tile {
  uint32_t index, row; // in its list; first row of B
  bool sparse, there;
};

// The tiles of a block row.
template <int Kinds> struct step_walk {
  const struct shunt_tile &v;
  uint32_t sparse, sparse_end, dense, dense_end;

  __device__ __forceinline__ step_walk(const struct shunt_tile &v_, int block)
      : v(v_), sparse(v.sparse.begin[block]), sparse_end(v.sparse.begin[block + 1]),
        dense(v.dense.begin[block]), dense_end(v.dense.begin[block + 1])
  {
  }
  __device__ __forceinline__ step_tile next()
  {
    bool take = Kinds != DENSE_ONLY && sparse < sparse_end;
    if (Kinds == BY_COLUMN && take && dense < dense_end)
      take = v.sparse.column[sparse] < v.dense.column[dense] / 2;
    if (take) {
      const step_tile tile = {sparse, v.sparse.column[sparse] * kStrip, true, true};
      sparse++;
      return tile;
    }
    if (dense == dense_end) return {0, 0, false, false};
    const step_tile tile = {dense, v.dense.column[dense] * (kStrip / 2), false, true};
    dense++;
    return tile;
  }
};

template <int Fetch> struct step_warp {
  const arguments &p;
  step_buffer *buffers;
  int column0, lane;
  float d[1][4];

  // The row of B at position i of the tile; beyond the last: none.
  __device__ __forceinline__ int64_t row_of(const step_tile &tile, int i) const
  {
    if (tile.sparse && p.v.order) i = p.v.order[static_cast<int64_t>(tile.index) * kStrip + i];
    return static_cast<int64_t>(tile.row) + i;
  }
  __device__ __forceinline__ uint32_t element(const step_tile &tile, int i) const
  {
    const int64_t row = row_of(tile, i);
    if (row >= p.k) return 0;
    return reinterpret_cast<const uint16_t *>(p.b + row * p.b_row_bytes)[column0 + lane / 4];
  }
  __device__ __forceinline__ const uint4 *values(const step_tile &tile) const
  {
    const struct shunt_tile_list &list = tile.sparse ? p.v.sparse : p.v.dense;
    return reinterpret_cast<const uint4 *>(list.values) + static_cast<int64_t>(tile.index) * 32 +
           lane;
  }
  __device__ __forceinline__ const uint32_t *words(const step_tile &tile) const
  {
    return p.v.metadata + static_cast<int64_t>(tile.index) * SHUNT_TILE_WORDS;
  }

  __device__ __forceinline__ void multiply(const step_tile &tile, const uint4 &values,
                                           const uint32_t (&b)[4], uint32_t metadata)
  {
    const uint32_t a[4] = {values.x, values.y, values.z, values.w}, left[2] = {b[0], b[1]};
    if (tile.sparse)
      sparse_mma_of<__half>::run(d[0], a, b, metadata);
    else
      mma_of<__half>::run(d[0], a, left);
  }

  __device__ __forceinline__ void multiply_direct(const step_tile &tile)
  {
    const int t = lane % 4;
    uint32_t b[4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++)
      if (i < 2 || tile.sparse)
        b[i] = element(tile, 8 * i + 2 * t) | element(tile, 8 * i + 2 * t + 1) << 16;
    multiply(tile, *values(tile), b, tile.sparse ? words(tile)[lane / 4 * 2 + lane % 2] : 0);
  }

  __device__ __forceinline__ void copy(void *to, const void *from, bool there)
  {
    if (Fetch == SHARED)
      *static_cast<uint4 *>(to) =
          there ? *static_cast<const uint4 *>(from) : make_uint4(0, 0, 0, 0);
    else
      ptx::cp_async_16(ptx::shared_address(to), from, there ? 16 : 0);
  }
  __device__ __forceinline__ void fetch(const step_tile &tile, int stage)
  {
    step_buffer &to = buffers[stage];
    if (tile.there) {
      if (tile.sparse || lane < kStrip / 2) {
        const int64_t row = row_of(tile, lane);
        const bool inside = row < p.k;
        copy(&to.b[lane], p.b + (inside ? row * p.b_row_bytes : 0) + column0 * 2, inside);
      }
      copy(&to.a[lane], values(tile), true);
      if (tile.sparse && lane < SHUNT_TILE_WORDS / 4)
        copy(&to.metadata[lane * 4], words(tile) + lane * 4, true);
    }
    ptx::cp_async_commit();
  }
  __device__ __forceinline__ void multiply_shared(const step_tile &tile, int stage)
  {
    const step_buffer &from = buffers[stage];
    uint32_t b[4];
    // Rows that a dense half does not have are those of a tile before: read, not multiplied.
    ptx::ldmatrix_x4_trans(b, ptx::shared_address(&from.b[tile.sparse ? lane : lane % 16]));
    multiply(tile, from.a[lane], b, from.metadata[lane / 4 * 2 + lane % 2]);
  }

  template <int Kinds> __device__ __forceinline__ void follow(step_walk<Kinds> walk)
  {
    step_tile tile = walk.next();
    if (Fetch == OVERLAPPED) fetch(tile, 0);
    for (int stage = 0; tile.there; stage ^= 1) {
      const step_tile next = walk.next();
      if (Fetch == DIRECT) {
        multiply_direct(tile);
      } else if (Fetch == OVERLAPPED) {
        fetch(next, stage ^ 1);
        ptx::cp_async_wait<1>();
        __syncwarp();
        multiply_shared(tile, stage);
      } else {
        fetch(tile, 0);
        ptx::cp_async_wait<0>();
        __syncwarp();
        multiply_shared(tile, 0);
      }
      __syncwarp();
      tile = next;
    }
    ptx::cp_async_wait<0>();
  }
};

template <int Fetch, int Kinds>
__global__ void __launch_bounds__(kStepWarps * 32) tile_step(const __grid_constant__ arguments p)
{
  __shared__ __align__(16) step_buffer buffers[Fetch == DIRECT ? 1 : kStepWarps][2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int block = blockIdx.x * kStepWarps + warp;
  if (block >= p.blocks) return;
  step_buffer *own = buffers[Fetch == DIRECT ? 0 : warp];
  if (Fetch != DIRECT) // metadata that no tile has brought is loaded, and not looked at
    for (int stage = 0; stage < 2; stage++)
      if (lane < SHUNT_TILE_WORDS) own[stage].metadata[lane] = 0;
  __syncwarp();
  step_warp<Fetch> w = {p, own, static_cast<int>(blockIdx.y) * kStepTile, lane, {}};
  w.follow(step_walk<Kinds>(p.v, block));
  const float alpha = p.alpha.get(), beta = p.beta.get();
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int64_t row = static_cast<int64_t>(block) * kRows + lane / 4 + 8 * h;
    float v[2] = {w.d[0][2 * h], w.d[0][2 * h + 1]};
    if (row < p.rows)
      store_run<__half, __half>(p, true, alpha, beta, row, w.column0 + lane % 4 * 2, v);
  }
}

static bool aligned(const struct shunt_dense &m)
{
  return m.type == SHUNT_F16 && m.col_stride == 1 && m.row_stride % 8 == 0 && m.cols % 8 == 0 &&
         reinterpret_cast<uintptr_t>(m.values) % 16 == 0;
}

static const void *kernel_of(enum shunt_tile_step step)
{
  static const void *const kernels[SHUNT_STEPS] = {
      reinterpret_cast<const void *>(&tile_step<DIRECT, DENSE_ONLY>),
      reinterpret_cast<const void *>(&tile_step<SHARED, DENSE_ONLY>),
      reinterpret_cast<const void *>(&tile_step<ASYNC, DENSE_ONLY>),
      reinterpret_cast<const void *>(&tile_step<OVERLAPPED, DENSE_ONLY>),
      reinterpret_cast<const void *>(&tile_step<DIRECT, BY_COLUMN>),
      reinterpret_cast<const void *>(&tile_step<OVERLAPPED, BY_COLUMN>),
      reinterpret_cast<const void *>(&tile_step<OVERLAPPED, SEPARATE>)};
  return kernels[step];
}

} // namespace tile
} // namespace shunt

using namespace shunt::tile;

extern "C" shunt_status shunt_ablation_tile_cuda(const struct shunt_spmm *p,
                                                 const struct shunt_tile *v,
                                                 enum shunt_tile_step step, shunt_stream stream)
{
  if (!aligned(p->b) || !aligned(p->c) || v->value_type != SHUNT_F16 || v->sparse.gather)
    return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->only_if || p->b.cols > 65535 * kStepTile)
    return SHUNT_E_UNSUPPORTED;
  if (v->rows != p->a.rows || v->cols != p->a.cols || p->b.rows != v->cols ||
      p->c.rows != v->rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  arguments k = {};
  k.v = *v;
  k.rows = static_cast<int>(v->rows), k.blocks = static_cast<int>(v->blocks);
  k.k = static_cast<int>(v->cols), k.n = static_cast<int>(p->b.cols);
  k.b = static_cast<const char *>(p->b.values), k.b_row_bytes = p->b.row_stride * 2;
  k.c = p->c.values, k.c_row_stride = p->c.row_stride, k.c_col_stride = 1;
  k.alpha = shunt::make_scalar_arg<float>(p->alpha);
  k.beta = shunt::make_scalar_arg<float>(p->beta);
  void *parameters[] = {&k};
  const dim3 grid((k.blocks + kStepWarps - 1) / kStepWarps, k.n / kStepTile);
  return cudaLaunchKernel(kernel_of(step), grid, dim3(kStepWarps * 32), parameters, 0, stream) ==
                 cudaSuccess
             ? SHUNT_OK
             : SHUNT_E_CUDA;
}
