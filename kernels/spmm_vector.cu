// spmm_vector.cu: checks, choice of shape and launch of SpMM over the `vector` format.
//
// The kernels: spmm_vector_direct.cuh, spmm_vector_strips.cuh.
#include "kernels/spmm_vector_launch.cuh"
#include "kernels/tensor_map.h"

namespace shunt
{
namespace vector
{

static shunt_status check(const struct shunt_spmm *p, const struct shunt_vector *v)
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
  if (p->a.rows > INT32_MAX - 1024 || p->a.cols > INT32_MAX - 1024) return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(64)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
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

static bool shape_fits(const struct shunt_vector_shape *s, const struct shunt_vector *v,
                       const struct shunt_device *d)
{
  if (s->tile != 64 && s->tile != 128) return false;
  if (s->rows == 0) return s->log2_slices >= 0 && s->log2_slices <= 3 && direct_runs(s->tile, d);
  if (s->rows != 256 || v->order != SHUNT_VECTOR_WINDOWED) return false;
  return strips_run(s->tile, d);
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

static shunt_status fill_arguments(arguments *k, const struct shunt_spmm *p,
                                   const struct shunt_vector *v, const struct shunt_dense *b,
                                   const struct shunt_vector_shape *s)
{
  if (b->row_stride * 2 > UINT32_MAX) return SHUNT_E_UNSUPPORTED;
  k->begin = v->begin, k->count = v->count, k->strip_end = v->strip_end;
  k->columns = v->columns, k->masks = v->masks;
  k->values = reinterpret_cast<const uint2 *>(v->values);
  k->rows = static_cast<int>(v->rows);
  k->groups = static_cast<int>(v->groups);
  k->strips = static_cast<int>(v->strips);
  k->n = static_cast<int>(b->cols);
  k->b = static_cast<const char *>(b->values);
  k->b_row_bytes = static_cast<uint32_t>(b->row_stride * 2);
  k->c = p->c.values;
  k->c_row_stride = p->c.row_stride;
  k->c_col_stride = p->c.col_stride;
  k->c_wide = rows_aligned(p->c) && reinterpret_cast<uintptr_t>(p->c.values) % 16 == 0;
  k->alpha = make_scalar_arg<float>(p->alpha);
  k->beta = make_scalar_arg<float>(p->beta);
  k->log2_slices = s->log2_slices;
  return SHUNT_OK;
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" size_t shunt_spmm_vector_workspace(const struct shunt_spmm *p)
{
  if (check(p, NULL) != SHUNT_OK || b_in_place(p)) return 0;
  return b_copy_bytes(p);
}

extern "C" struct shunt_vector_shape shunt_spmm_vector_shape(const struct shunt_spmm *p,
                                                             const struct shunt_vector *v,
                                                             const struct shunt_device *d)
{
  // Strips pay where the gather of the direct way, vectors x N x 2 bytes from L2, takes
  // longer than bringing all of B to every block.
  struct shunt_vector_shape s = {256, 128, 0};
  const int64_t slots = static_cast<int64_t>(d->multiprocessors);
  const int64_t tall = (p->a.rows + 255) / 256, wide = (p->b.cols + 127) / 128;
  const int64_t narrow = (p->b.cols + 63) / 64;
  if (tall * wide * 2 <= slots) s.tile = 64;
  const int64_t vectors = p->a.nnz / v->height;
  const bool few = vectors < v->groups * v->cols / 25;
  const bool small = tall * narrow * 2 <= slots;
  if (!few && !small && shape_fits(&s, v, d)) return s;

  s.rows = 0;
  const int64_t warps = slots * 16;
  s.tile = v->groups * wide * 2 > warps && direct_runs(128, d) ? 128 : 64;
  s.log2_slices = 0;
  if (s.tile == 64)
    while (s.log2_slices < 3 && (v->groups * narrow << (s.log2_slices + 1)) <= warps &&
           vectors / v->groups >> (s.log2_slices + 1) >= 32)
      ++s.log2_slices;
  return s;
}

extern "C" shunt_status shunt_spmm_vector_shaped_cuda(const struct shunt_spmm *p,
                                                      const struct shunt_vector *v,
                                                      const struct shunt_vector_shape *shape,
                                                      const struct shunt_device *d, void *workspace,
                                                      size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  if (!shape_fits(shape, v, d)) return SHUNT_E_UNSUPPORTED;

  const bool copy = !b_in_place(p) || reinterpret_cast<uintptr_t>(p->b.values) % 16 != 0;
  if (copy && (!workspace || workspace_bytes < b_copy_bytes(p) ||
               reinterpret_cast<uintptr_t>(workspace) % 256 != 0))
    return SHUNT_E_WORKSPACE;
  const struct shunt_dense b = copy ? b_copy(p, workspace) : p->b;
  arguments k;
  CUtensorMap map = {};
  s = fill_arguments(&k, p, v, &b, shape);
  if (s != SHUNT_OK) return s;
  if (shape->rows != 0 && !shunt::make_tensor_map(&map, b, SHUNT_VECTOR_STRIP, 64))
    return SHUNT_E_UNSUPPORTED;

  if (copy) {
    s = shunt_dense_copy_cuda(&p->b, &b, d, stream);
    if (s != SHUNT_OK) return s;
  }
  const cudaError_t e = p->a.value_type == SHUNT_F16
                            ? launch_f16(k, *shape, map, p->c.type, stream)
                            : launch_bf16(k, *shape, map, p->c.type, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_spmm_vector_cuda(const struct shunt_spmm *p,
                                               const struct shunt_vector *v,
                                               const struct shunt_device *d, void *workspace,
                                               size_t workspace_bytes, shunt_stream stream)
{
  const struct shunt_vector_shape shape = shunt_spmm_vector_shape(p, v, d);
  return shunt_spmm_vector_shaped_cuda(p, v, &shape, d, workspace, workspace_bytes, stream);
}
