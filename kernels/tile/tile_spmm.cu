// tile_spmm.cu: checks, choice of shape and launch of SpMM over the `tile` format.
//
// The kernels: tile_spmm.cuh, tile_spmm_blocked.cuh, tile_spmm_gather.cuh.
#include <math.h>

#include "kernels/common/dense_copy.h"
#include "kernels/common/tensor_map.h"
#include "kernels/tile/tile_spmm_launch.cuh"

namespace shunt
{
namespace tile
{

static shunt_status check(const struct shunt_spmm *p, const struct shunt_tile *v)
{
  const shunt_type t = p->a.value_type;
  if (t != SHUNT_F16 && t != SHUNT_BF16) return SHUNT_E_UNSUPPORTED;
  if (p->b.type != t || (p->c.type != t && p->c.type != SHUNT_F32)) return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->only_if) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows < 1 || p->a.cols < 1 || p->b.cols < 1) return SHUNT_E_ARGUMENT;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (v && (v->rows != p->a.rows || v->cols != p->a.cols || v->value_type != t))
    return SHUNT_E_ARGUMENT;
  if (p->a.rows > INT32_MAX - 1024 || p->a.cols > INT32_MAX - (1 << 20)) return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(64)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

// ---- shapes ----------------------------------------------------------------------------

// Blocked shapes, and what a block takes for one chunk in which all tiles are 2:4: microseconds
// on an H200, the slope of the times for 4096 and 8192 columns, when eight warps multiplied.
static const struct blocked_choice {
  int rows, tile, bytes;
  double chunk;
} kBlocked[] = {{128, 128, blocked_128x128::kBytes, 0.60},
                {128, 64, blocked_128x64::kBytes, 0.41},
                {64, 64, blocked_64x64::kBytes, 0.30}};
constexpr double kBlockStart = 5, kSplitSum = 3; // of a block; of the sum of a split

static bool shape_fits(const struct shunt_tile_shape *s, const struct shunt_tile *v,
                       const struct shunt_device *d)
{
  const bool merged = v->sparse.gather != nullptr;
  if (s->rows == 0) return !merged && (s->tile == 64 || s->tile == 128);
  if (s->split != 1 && s->split != 2 && s->split != 4 && s->split != 8) return false;
  if (s->rows == kRows)
    return merged && s->tile == kGatherTile && gather_bytes(s->split) <= d->shared_per_block;
  if (s->split == 8) return false;
  if (d->compute_capability < 90 || !v->chunk) return false;
  for (const blocked_choice &c : kBlocked)
    if (c.rows == s->rows && c.tile == s->tile) return c.bytes <= d->shared_per_block;
  return false;
}

// The direct kernel: 128 columns, unless that leaves half of the multiprocessors without work or
// most of the last 128 empty.
static struct shunt_tile_shape direct_shape(const struct shunt_spmm *p,
                                            const struct shunt_device *d)
{
  const int64_t wide = (p->b.cols + 127) / 128, tall = (p->a.rows + 127) / 128;
  const bool narrow = (p->b.cols - 1) % 128 < 64 && p->b.cols < 256;
  return {0, narrow || tall * wide * 2 <= d->multiprocessors ? 64 : 128, 1};
}

// Gathered: so many warps a unit (16 x 64 of C) that each multiprocessor has a dozen.
static struct shunt_tile_shape gather_shape(const struct shunt_spmm *p,
                                            const struct shunt_device *d)
{
  const int64_t units =
      (p->a.rows + kRows - 1) / kRows * ((p->b.cols + kGatherTile - 1) / kGatherTile);
  const int64_t wanted = INT64_C(12) * d->multiprocessors;
  int split = 1;
  while (split < 8 && split * units < wanted) split *= 2;
  if (split == 8 && 2 * units > 3 * d->multiprocessors) split = 4;
  return {kRows, kGatherTile, split};
}

// Microseconds on an H200, fitted to seven finite-element matrices at 64 to 256 columns and 27
// pruned layers at 256: gathering 32 rows of B and a tile of A, per unit and multiprocessor;
// writing a byte of C; and the steps of the warps that have most of them, one after the other.
static double gather_cost(const struct shunt_spmm *p, double tiles, double longest_row,
                          const struct shunt_device *d)
{
  constexpr double kStart = 3, kStep = 0.65e-3, kWritten = 0.6e-6, kLatency = 0.6;
  const double blocks = static_cast<double>((p->a.rows + kRows - 1) / kRows);
  const double wide = static_cast<double>((p->b.cols + kGatherTile - 1) / kGatherTile);
  const double written = static_cast<double>(p->c.rows) * static_cast<double>(p->c.cols) *
                         static_cast<double>(shunt_type_size(p->c.type));
  const double mean = tiles / blocks, longest = longest_row / kStrip;
  const double deep = ceil((mean > longest ? mean : longest) / gather_shape(p, d).split);
  const double scale = d->multiprocessors > 0 ? 132.0 / d->multiprocessors : 1;
  const double all = (kStep * tiles * wide + kWritten * written) * scale;
  return kStart + (all > kLatency * deep ? all : kLatency * deep);
}

// Microseconds: rounds of one block for each multiprocessor, times a block's chunks.
static double blocked_cost(const struct shunt_spmm *p, const blocked_choice &c, int split,
                           const struct shunt_device *d)
{
  const int64_t tall = (p->a.rows + c.rows - 1) / c.rows, wide = (p->b.cols + c.tile - 1) / c.tile;
  const int64_t rounds = (tall * wide * split + d->multiprocessors - 1) / d->multiprocessors;
  const int64_t chunks = (shunt_tile_chunks(p->a.cols) + split - 1) / split;
  const double block = kBlockStart + static_cast<double>(chunks) * c.chunk;
  return static_cast<double>(rounds) * (block + (split > 1 ? kSplitSum : 0));
}

// The cheapest of all shapes, by itself and split in two; rows: 0 where none fits.
static struct shunt_tile_shape best_blocked(const struct shunt_spmm *p, const struct shunt_tile *v,
                                            const struct shunt_device *d)
{
  struct shunt_tile_shape best = {};
  double least = 0;
  for (const blocked_choice &c : kBlocked)
    for (int split = 1; split <= 2; split++) {
      const struct shunt_tile_shape s = {c.rows, c.tile, split};
      const double cost = blocked_cost(p, c, split, d);
      if (!shape_fits(&s, v, d) || (best.rows != 0 && cost >= least)) continue;
      best = s, least = cost;
    }
  return best;
}

// Few tiles: less than one place in 16.
static bool few_tiles(const struct shunt_tile *v)
{
  const int64_t places = v->blocks * ((v->cols + kStrip - 1) / kStrip);
  return (v->sparse.room + v->dense.room) < places / 16;
}

// ---- B and C ---------------------------------------------------------------------------

static bool rows_aligned(const struct shunt_dense &m)
{
  const int64_t size = static_cast<int64_t>(shunt_type_size(m.type));
  return m.col_stride == 1 && m.row_stride * size % 16 == 0;
}

// The rows of B start at multiples of 16 bytes and have no ragged last piece.
static bool b_in_place(const struct shunt_spmm *p)
{
  return rows_aligned(p->b) && p->b.cols % 8 == 0;
}

// An aligned row-major copy of B at `at`.
static struct shunt_dense b_copy(const struct shunt_spmm *p, void *at)
{
  struct shunt_dense copy = p->b;
  copy.row_stride = (p->b.cols + 7) / 8 * 8;
  copy.col_stride = 1;
  copy.values = at;
  return copy;
}
static size_t b_copy_bytes(const struct shunt_spmm *p)
{
  const struct shunt_dense copy = b_copy(p, NULL);
  return static_cast<size_t>(copy.rows) * copy.row_stride * shunt_type_size(copy.type);
}

static arguments make_arguments(const struct shunt_spmm *p, const struct shunt_tile *v,
                                const struct shunt_dense *b, const struct shunt_tile_shape *shape)
{
  const size_t pair = 2 * shunt_type_size(p->c.type);
  arguments k = {};
  k.v = *v;
  k.rows = static_cast<int>(v->rows);
  k.blocks = static_cast<int>(v->blocks);
  k.k = static_cast<int>(v->cols);
  k.n = static_cast<int>(b->cols);
  k.b = static_cast<const char *>(b->values);
  k.b_row_bytes = b->row_stride * 2;
  k.c = p->c.values;
  k.c_row_stride = p->c.row_stride;
  k.c_col_stride = p->c.col_stride;
  k.split = shape->split;
  k.c_wide = rows_aligned(p->c) && reinterpret_cast<uintptr_t>(p->c.values) % 16 == 0;
  k.c_pairs = p->c.col_stride == 1 && p->c.row_stride % 2 == 0 &&
              reinterpret_cast<uintptr_t>(p->c.values) % pair == 0;
  k.alpha = make_scalar_arg<float>(p->alpha);
  k.beta = make_scalar_arg<float>(p->beta);
  return k;
}

// Checks; *b: where B will be read, in the workspace if it has to be copied.
static shunt_status place_b(const struct shunt_spmm *p, const struct shunt_tile *v,
                            const struct shunt_tile_shape *shape, const struct shunt_device *d,
                            void *workspace, size_t workspace_bytes, struct shunt_dense *b)
{
  const shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80 || !shape_fits(shape, v, d)) return SHUNT_E_UNSUPPORTED;
  const bool copy = !b_in_place(p) || reinterpret_cast<uintptr_t>(p->b.values) % 16 != 0;
  if (copy && (!workspace || workspace_bytes < b_copy_bytes(p) ||
               reinterpret_cast<uintptr_t>(workspace) % 256 != 0))
    return SHUNT_E_WORKSPACE;
  *b = copy ? b_copy(p, workspace) : p->b;
  return SHUNT_OK;
}

static shunt_status copy_b(const struct shunt_spmm *p, const struct shunt_dense *b,
                           const struct shunt_device *d, shunt_stream stream)
{
  return b->values == p->b.values ? SHUNT_OK : shunt_dense_copy_cuda(&p->b, b, d, stream);
}

shunt_status prepare_gather(const struct shunt_spmm *p, const struct shunt_tile *v,
                            const struct shunt_device *d, void *workspace, size_t workspace_bytes,
                            shunt_stream stream, arguments *k)
{
  struct shunt_dense b;
  const struct shunt_tile_shape shape = gather_shape(p, d);
  shunt_status s = place_b(p, v, &shape, d, workspace, workspace_bytes, &b);
  if (s == SHUNT_OK) s = copy_b(p, &b, d, stream);
  if (s == SHUNT_OK) *k = make_arguments(p, v, &b, &shape);
  return s;
}

} // namespace tile
} // namespace shunt

using namespace shunt::tile;

extern "C" size_t shunt_tile_spmm_workspace(const struct shunt_spmm *p)
{
  if (check(p, NULL) != SHUNT_OK || b_in_place(p)) return 0;
  return b_copy_bytes(p);
}

extern "C" double shunt_tile_spmm_merged_us(const struct shunt_spmm *p, double tiles,
                                            double longest_row, const struct shunt_device *d)
{
  return p->a.rows > 0 ? gather_cost(p, tiles, longest_row, d) : 0;
}

extern "C" bool shunt_tile_spmm_proves(const struct shunt_spmm *p, const struct shunt_device *d)
{
  const int split = gather_shape(p, d).split, units_each = gather_warps(split) / split;
  const int64_t units =
      (p->a.rows + kRows - 1) / kRows * ((p->b.cols + kGatherTile - 1) / kGatherTile);
  const int64_t pieces = (units + units_each - 1) / units_each;
  const int64_t at_once = INT64_C(1) * proved_blocks(split) * d->multiprocessors;
  if (p->beta.device || p->beta.host != 0) return false;
  return pieces <= at_once || (pieces <= 2 * at_once && 10 * pieces >= 18 * at_once);
}

extern "C" struct shunt_tile_shape shunt_tile_spmm_shape(const struct shunt_spmm *p,
                                                         const struct shunt_tile *v,
                                                         const struct shunt_device *d)
{
  if (v->sparse.gather) return gather_shape(p, d);
  const struct shunt_tile_shape blocked = best_blocked(p, v, d);
  return blocked.rows == 0 || few_tiles(v) ? direct_shape(p, d) : blocked;
}

extern "C" shunt_status shunt_tile_spmm_shaped_cuda(const struct shunt_spmm *p,
                                                    const struct shunt_tile *v,
                                                    const struct shunt_tile_shape *shape,
                                                    const struct shunt_device *d, void *workspace,
                                                    size_t workspace_bytes, shunt_stream stream)
{
  struct shunt_dense b;
  shunt_status s = place_b(p, v, shape, d, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  CUtensorMap map = {};
  if (shape->rows != 0 && !shunt::make_tensor_map(&map, b, kChunk, 64)) return SHUNT_E_UNSUPPORTED;
  s = copy_b(p, &b, d, stream);
  if (s != SHUNT_OK) return s;
  const arguments k = make_arguments(p, v, &b, shape);
  const cudaError_t e = p->a.value_type == SHUNT_F16
                            ? launch_f16(k, *shape, map, p->c.type, stream)
                            : launch_bf16(k, *shape, map, p->c.type, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_tile_spmm_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                             const struct shunt_device *d, void *workspace,
                                             size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  const struct shunt_tile_shape shape = shunt_tile_spmm_shape(p, v, d);
  return shunt_tile_spmm_shaped_cuda(p, v, &shape, d, workspace, workspace_bytes, stream);
}
