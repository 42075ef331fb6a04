// tile_mixed_spmm.cu: checks, shapes and launch of SpMM over tiles of any kind.
//
// The kernels: tile_mixed_spmm.cuh, tile_mixed_spmm_blocked.cuh, tile_spmm_gather.cuh.
#include "kernels/common/tensor_map.h"
#include "kernels/tile/tile_mixed_spmm_launch.cuh"

namespace shunt
{
namespace tile
{

template <class Shape> static bool is_shape(const struct shunt_tile_shape &s)
{
  return s.rows == Shape::kRows && s.tile == Shape::kTile;
}

// Shared memory of a block; 0: there is no such shape.
static int blocked_bytes(const struct shunt_tile_shape &s)
{
  if (is_shape<blocked_128x128>(s)) return blocked_128x128::kBytes;
  if (is_shape<blocked_128x64>(s)) return blocked_128x64::kBytes;
  return is_shape<blocked_64x64>(s) ? blocked_64x64::kBytes : 0;
}

static bool shape_fits(const struct shunt_tile_shape &s, const struct shunt_tile *v,
                       const struct shunt_device *d)
{
  if (s.rows == 0) return !v->sparse.gather && (s.tile == 64 || s.tile == 128);
  if (s.rows == kRows) return s.tile == kGatherTile && gather_fits(s.split, v, d);
  const int bytes = blocked_bytes(s);
  if (s.split != 1 && s.split != 2 && s.split != 4) return false;
  return d->compute_capability >= 90 && v->chunk && bytes > 0 && bytes <= d->shared_per_block;
}

// 128 columns, unless that leaves half of the multiprocessors without work or most of the last 128
// empty.
static struct shunt_tile_shape direct_shape(const struct shunt_spmm *p,
                                            const struct shunt_device *d)
{
  const int64_t wide = (p->b.cols + 127) / 128, tall = (p->a.rows + 127) / 128;
  const bool narrow = (p->b.cols - 1) % 128 < 64 && p->b.cols < 256;
  return {0, narrow || tall * wide * 2 <= d->multiprocessors ? 64 : 128, 1};
}

} // namespace tile
} // namespace shunt

using namespace shunt::tile;

extern "C" bool shunt_tile_mixed_spmm_fits(const struct shunt_tile_shape *s,
                                           const struct shunt_tile *v, const struct shunt_device *d)
{
  return shape_fits(*s, v, d);
}

extern "C" struct shunt_tile_shape shunt_tile_mixed_spmm_unblocked(const struct shunt_spmm *p,
                                                                   const struct shunt_tile *v,
                                                                   const struct shunt_device *d)
{
  return v->sparse.gather ? shunt_tile_spmm_shape(p, d) : direct_shape(p, d);
}

extern "C" shunt_status shunt_tile_mixed_spmm_shaped_cuda(
    const struct shunt_spmm *p, const struct shunt_tile *v, const struct shunt_tile_shape *shape,
    const struct shunt_device *d, void *workspace, size_t workspace_bytes, shunt_stream stream)
{
  struct shunt_dense b;
  CUtensorMap map = {};
  const bool fits = shape_fits(*shape, v, d);
  shunt_status s = check_and_place_b(p, v, fits, d, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  if (shape->rows > kRows && !shunt::make_tensor_map(&map, b, kChunk, 64))
    return SHUNT_E_UNSUPPORTED;
  s = shunt::copy_b(p->b, b, d, stream);
  if (s != SHUNT_OK) return s;
  const arguments k = make_arguments(p, v, &b, shape->split);
  const cudaError_t e = p->a.value_type == SHUNT_F16
                            ? launch_mixed_f16(k, *shape, map, p->c.type, stream)
                            : launch_mixed_bf16(k, *shape, map, p->c.type, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
