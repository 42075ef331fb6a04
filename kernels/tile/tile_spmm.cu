// tile_spmm.cu: checks, shape and launch of SpMM over gathered tiles that are all dense.
//
// The kernels: tile_spmm_gather.cuh; with the proof inside, tile_spmm_proved.cu.  Other tiles:
// tile_mixed_spmm.cu.
#include "kernels/common/tensor_map.h"
#include "kernels/tile/tile_spmm_launch.cuh"

namespace shunt
{
namespace tile
{

// Units of C: 16 rows x 64 columns.
static int64_t units_of(const struct shunt_spmm *p)
{
  return (p->a.rows + kRows - 1) / kRows * ((p->b.cols + kGatherTile - 1) / kGatherTile);
}

// So many warps a unit that each multiprocessor has a dozen.
static int split_of(const struct shunt_spmm *p, const struct shunt_device *d)
{
  const int64_t units = units_of(p), wanted = INT64_C(12) * d->multiprocessors;
  int split = 1;
  while (split < 8 && split * units < wanted) split *= 2;
  if (split == 8 && 2 * units > 3 * d->multiprocessors) split = 4;
  return split;
}

shunt_status prepare(const struct shunt_spmm *p, const struct shunt_tile *v, int split,
                     const struct shunt_device *d, void *workspace, size_t workspace_bytes,
                     shunt_stream stream, arguments *k)
{
  struct shunt_dense b;
  const bool fits = v->sparse.room == 0 && gather_fits(split, v, d);
  shunt_status s = check_and_place_b(p, v, fits, d, workspace, workspace_bytes, &b);
  if (s == SHUNT_OK) s = copy_b(p->b, b, d, stream);
  if (s == SHUNT_OK) *k = make_arguments(p, v, &b, split);
  return s;
}

} // namespace tile
} // namespace shunt

using namespace shunt::tile;

extern "C" size_t shunt_tile_spmm_workspace(const struct shunt_spmm *p)
{
  if (check(p, NULL) != SHUNT_OK || shunt::b_in_place(p->b)) return 0;
  return shunt::aligned_copy_bytes(p->b);
}

extern "C" struct shunt_tile_shape shunt_tile_spmm_shape(const struct shunt_spmm *p,
                                                         const struct shunt_device *d)
{
  return {kRows, kGatherTile, split_of(p, d)};
}

extern "C" bool shunt_tile_spmm_proves(const struct shunt_spmm *p, const struct shunt_device *d)
{
  const int split = split_of(p, d), units_each = gather_warps(split) / split;
  const int64_t pieces = (units_of(p) + units_each - 1) / units_each;
  const int64_t at_once = INT64_C(1) * proved_blocks(split) * d->multiprocessors;
  if (p->beta.device || p->beta.host != 0) return false;
  return pieces <= at_once || (pieces <= 2 * at_once && 10 * pieces >= 18 * at_once);
}

extern "C" shunt_status shunt_tile_spmm_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                             const struct shunt_device *d, void *workspace,
                                             size_t workspace_bytes, shunt_stream stream)
{
  arguments k;
  const shunt_status s = prepare(p, v, split_of(p, d), d, workspace, workspace_bytes, stream, &k);
  if (s != SHUNT_OK) return s;
  const cudaError_t e = p->a.value_type == SHUNT_F16 ? launch_f16(k, p->c.type, stream)
                                                     : launch_bf16(k, p->c.type, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
