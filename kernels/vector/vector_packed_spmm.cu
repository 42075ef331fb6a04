// vector_packed_spmm.cu: checks, shapes and launch of SpMM over the `vector` format.
//
// The kernels: vector_packed_spmm_direct.cuh, vector_packed_spmm_strips.cuh; and with the proof
// inside, vector_packed_spmm_proved.cu.
#include <math.h>

#include "kernels/common/spmm_operands.cuh"
#include "kernels/common/tensor_map.h"
#include "kernels/vector/vector_packed_spmm_launch.cuh"

namespace shunt
{
namespace vector
{

shunt_status check(const struct shunt_spmm *p, const struct shunt_vector *v)
{
  const shunt_type t = p->a.value_type;
  if (t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->b.type != t || (p->c.type != t && p->c.type != SHUNT_F32)) return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->only_if) return SHUNT_E_UNSUPPORTED;
  if (p->a.rows < 1 || p->a.cols < 1 || p->b.cols < 1) return SHUNT_E_ARGUMENT;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (v && (v->rows != p->a.rows || v->cols != p->a.cols || v->value_type != t))
    return SHUNT_E_ARGUMENT;
  if (p->a.rows > INT32_MAX - 1024 || p->a.cols > INT32_MAX - 1024) return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(64)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

// Of 16-bit types: the shapes here are for those.
static bool is_half(const struct shunt_spmm *p)
{
  return shunt_type_size(p->a.value_type) == 2;
}

static bool strips_run(int tile, const struct shunt_device *d)
{
  const int bytes = tile == 128 ? strips_256x128::kBytes : strips_256x64::kBytes;
  return d->compute_capability >= 90 && bytes <= d->shared_per_block;
}
static bool direct_runs(int tile, const struct shunt_device *d)
{
  return (tile == 128 ? direct_128::kBytes : direct_64::kBytes) <= d->shared_per_block;
}
static bool pairs_run(int tile, const struct shunt_device *d)
{
  return tile == 128 && pairs_128::kBytes <= d->shared_per_block;
}

static bool shape_fits(const struct shunt_vector_shape *s, enum shunt_vector_order order,
                       const struct shunt_device *d)
{
  if (s->tile != 64 && s->tile != 128) return false;
  if (s->rows == 0)
    return s->log2_slices >= 0 && s->log2_slices <= 3 &&
           (s->pairs ? pairs_run(s->tile, d) : direct_runs(s->tile, d));
  if (s->pairs || s->rows != SHUNT_VECTOR_BLOCK_ROWS || order != SHUNT_VECTOR_WINDOWED)
    return false;
  return strips_run(s->tile, d);
}

// ---- how a gather is cut -----------------------------------------------------------------

// Groups, and vectors in all; by counts alone, of warps that are at work at one time.
struct gather_size {
  double groups, vectors, warps;
  int64_t n;

  double tasks(int tile) const { return groups * static_cast<double>((n + tile - 1) / tile); }
};

static gather_size size_of(const struct shunt_spmm *p, double vectors, const struct shunt_device *d)
{
  const double groups =
      static_cast<double>((p->a.rows + SHUNT_VECTOR_ROWS - 1) / SHUNT_VECTOR_ROWS);
  return {groups, fmin(vectors, groups * static_cast<double>(p->a.cols)),
          static_cast<double>(SHUNT_VECTOR_WARPS) * d->multiprocessors, p->b.cols};
}

// One group a warp.  Narrow tiles unless they are too many for all warps; slices where they are too
// few, and lists of 16 vectors and more are left of each.
static struct shunt_vector_shape single_shape(const gather_size &z, const struct shunt_device *d)
{
  const bool wide = z.n > 64 && z.tasks(128) * 2 > z.warps && direct_runs(128, d);
  struct shunt_vector_shape s = {0, wide ? 128 : 64, 0, 0};
  while (s.tile == 64 && s.log2_slices < 3 && z.tasks(64) * (2 << s.log2_slices) <= z.warps &&
         z.vectors / z.groups >= 16 * (2 << s.log2_slices))
    s.log2_slices++;
  return s;
}

// Two groups a warp: where they keep a fifth of all warps at work.
static bool pairs_fill(const gather_size &z, const struct shunt_device *d)
{
  return pairs_run(128, d) && z.tasks(128) / 2 * 5 > z.warps;
}
static struct shunt_vector_shape pairs_shape(const gather_size &z)
{
  return {0, 128, z.tasks(128) <= z.warps ? 1 : 0, 1};
}

// ---- launching -------------------------------------------------------------------------------

shunt_status fill_arguments(arguments *k, const struct shunt_spmm *p, const struct shunt_vector *v,
                            const struct shunt_dense *b, const struct shunt_vector_shape *s)
{
  const int64_t row_bytes = b->row_stride * static_cast<int64_t>(shunt_type_size(b->type));
  if (row_bytes > UINT32_MAX) return SHUNT_E_UNSUPPORTED;
  k->row_of = v->row_of;
  k->begin = v->begin, k->count = v->count, k->strip_end = v->strip_end;
  k->columns = v->columns, k->masks = v->masks;
  k->values = reinterpret_cast<const uint2 *>(v->values);
  k->rows = static_cast<int>(v->rows);
  k->groups = static_cast<int>(v->groups);
  k->strips = static_cast<int>(v->strips);
  k->n = static_cast<int>(b->cols);
  k->b = static_cast<const char *>(b->values);
  k->b_row_bytes = static_cast<uint32_t>(row_bytes);
  k->c = p->c.values;
  k->c_row_stride = p->c.row_stride;
  k->c_col_stride = p->c.col_stride;
  k->c_wide = aligned(p->c);
  k->alpha = make_scalar_arg<float>(p->alpha);
  k->beta = make_scalar_arg<float>(p->beta);
  k->log2_slices = s->log2_slices;
  k->next_waits = p->next_waits;
  return SHUNT_OK;
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" size_t shunt_vector_packed_spmm_workspace(const struct shunt_spmm *p)
{
  if (check(p, NULL) != SHUNT_OK || shunt::b_in_place(p->b)) return 0;
  return shunt::aligned_copy_bytes(p->b);
}

extern "C" bool shunt_vector_packed_spmm_fits(const struct shunt_vector_shape *s,
                                              enum shunt_vector_order order,
                                              const struct shunt_device *d)
{
  return shape_fits(s, order, d);
}

extern "C" struct shunt_vector_shape shunt_vector_packed_spmm_gather(const struct shunt_spmm *p,
                                                                     double vectors, int height,
                                                                     const struct shunt_device *d)
{
  const gather_size z = size_of(p, vectors, d);
  return height == 16 && pairs_fill(z, d) ? pairs_shape(z) : single_shape(z, d);
}

// As far as the product counts: only sums alone, and B read in place.
static bool proof_fits(const struct shunt_spmm *p)
{
  return !p->beta.device && p->beta.host == 0 && shunt::b_in_place(p->b) && shunt::aligned(p->b);
}

shunt_status shunt::vector::prepare_proved(const struct shunt_spmm *p, const struct shunt_vector *v,
                                           const struct shunt_vector_shape *shape,
                                           const struct shunt_device *d, arguments *k)
{
  struct shunt_spmm product = *p;
  product.only_if = nullptr;
  const shunt_status s = check(&product, v);
  if (s != SHUNT_OK) return s;
  if (!is_half(p) || !shape_fits(shape, v->order, d) || shape->rows != 0 || shape->pairs)
    return SHUNT_E_UNSUPPORTED;
  return proof_fits(p) ? fill_arguments(k, p, v, &p->b, shape) : SHUNT_E_UNSUPPORTED;
}

extern "C" bool shunt_vector_packed_spmm_proves(const struct shunt_spmm *p,
                                                const struct shunt_vector_shape *shape)
{
  return proof_fits(p) && shape->rows == 0 && !shape->pairs;
}

extern "C" shunt_status
shunt_vector_packed_spmm_shaped_cuda(const struct shunt_spmm *p, const struct shunt_vector *v,
                                     const struct shunt_vector_shape *shape,
                                     const struct shunt_device *d, void *workspace,
                                     size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  if (!is_half(p) || !shape_fits(shape, v->order, d)) return SHUNT_E_UNSUPPORTED;

  struct shunt_dense b;
  arguments k;
  CUtensorMap map = {};
  s = shunt::place_b(p->b, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  s = fill_arguments(&k, p, v, &b, shape);
  if (s != SHUNT_OK) return s;
  if (shape->rows != 0 && !shunt::make_tensor_map(&map, b, SHUNT_VECTOR_STRIP, 64))
    return SHUNT_E_UNSUPPORTED;

  s = shunt::copy_b(p->b, b, d, stream);
  if (s != SHUNT_OK) return s;
  const cudaError_t e = p->a.value_type == SHUNT_F16
                            ? launch_f16(k, *shape, map, p->c.type, stream)
                            : launch_bf16(k, *shape, map, p->c.type, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
