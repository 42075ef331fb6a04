// bsr_spmm.cu: checks, choice of shape and launch of SpMM with A in square blocks.
//
// The kernels: bsr_spmm_mma.cuh (f16, bf16), bsr_spmm_fma.cuh (f32, f64), bsr_spmm_i8.cuh.
#include "kernels/bsr/bsr_kernels.h"
#include "kernels/bsr/bsr_spmm_operands.cuh"
#include "kernels/common/spmm_operands.cuh"

namespace shunt
{
namespace bsr
{

static bool size_known(int64_t size)
{
  return size == 2 || size == 4 || size == 8 || size == 16 || size == 32;
}

static bool is_half(const struct shunt_spmm *p)
{
  return p->a.value_type == SHUNT_F16 || p->a.value_type == SHUNT_BF16;
}

// Columns of a warp's widest tile.
static int widest(const struct shunt_spmm *p, const struct shunt_block_shape *s)
{
  if (is_half(p)) return s->size < 32 ? 128 : 64;
  return p->a.value_type == SHUNT_F64 ? 64 : 128;
}

static bool is_integer(const struct shunt_spmm *p)
{
  return p->a.value_type == SHUNT_I8;
}

static bool cut_fits(const struct shunt_spmm *p, const struct shunt_block_shape *s, int tile,
                     int log2_slices)
{
  const int most = widest(p, s), least = is_half(p) ? 64 : most / 4;
  if (log2_slices < 0 || log2_slices > 3) return false;
  return tile >= least && tile <= most && (tile & (tile - 1)) == 0;
}

// The widest tiles, narrower ones for narrow products; and so many slices that there are 16 warps a
// multiprocessor.  Rows of BSR differ in length: there two slices pay until then.  f32 and f64 gain
// by slices where warps are plenty, too.
struct cut {
  int tile, log2_slices;
};
static struct cut cut_of(const struct shunt_spmm *p, const struct shunt_block_shape *s,
                         const struct shunt_device *d)
{
  const double most = 16.0 * d->multiprocessors;
  const double row = static_cast<double>(p->a.nnz) / static_cast<double>(p->a.rows);
  const double step = is_half(p) ? 16.0 : is_integer(p) ? 32.0 : 2.0 * static_cast<double>(s->size);
  const double steps = row / step;
  struct cut c = {widest(p, s), 0};
  while (c.tile / 2 >= p->b.cols && cut_fits(p, s, c.tile / 2, 0)) c.tile /= 2;
  const double units = is_half(p) || s->size < 8 ? 1 : static_cast<double>(s->size / 8);
  const double warps = units * static_cast<double>(p->a.rows / s->size) *
                       static_cast<double>((p->b.cols + c.tile - 1) / c.tile);
  while (c.log2_slices < 3 && warps * (2 << c.log2_slices) <= most && steps >= 2 << c.log2_slices)
    c.log2_slices++;
  if (c.log2_slices == 0 && !is_half(p) && !is_integer(p) && steps >= 4) c.log2_slices = 2;
  if (c.log2_slices == 0 && s->wide == 0 && warps <= most && steps >= 2) c.log2_slices = 1;
  return c;
}

static shunt_status fill_operands(operands *k, const struct shunt_spmm *p,
                                  const struct shunt_block_shape *s, const struct shunt_dense *b,
                                  const struct cut *cut)
{
  const int64_t row_bytes = b->row_stride * static_cast<int64_t>(shunt_type_size(b->type));
  if (row_bytes > UINT32_MAX) return SHUNT_E_UNSUPPORTED;
  const bool ell = s->wide != 0;
  k->row_offsets = ell ? NULL : p->a.row_offsets;
  k->columns = p->a.columns;
  k->values = static_cast<const char *>(p->a.values);
  k->wide = s->wide;
  k->block_pitch = ell ? s->size : s->size * s->size;
  k->row_pitch = ell ? s->wide * s->size : s->size;
  k->base = p->a.base;
  k->index_wide = p->a.index_type == SHUNT_I64;
  k->rows_of_blocks = static_cast<int>(p->a.rows / s->size);
  k->n = static_cast<int>(b->cols);
  k->b = static_cast<const char *>(b->values);
  k->b_row_bytes = static_cast<uint32_t>(row_bytes);
  k->c = p->c.values;
  k->c_row_stride = p->c.row_stride;
  k->c_col_stride = p->c.col_stride;
  k->c_f32 = p->c.type == SHUNT_F32;
  k->c_pieces = aligned(p->c);
  k->log2_slices = cut->log2_slices;
  k->log2_tiles = 0;
  while (k->log2_slices + k->log2_tiles < 3 && cut->tile << k->log2_tiles < k->n) k->log2_tiles++;
  return SHUNT_OK;
}

template <class S> static arguments<S> with_scalars(const operands &o, const struct shunt_spmm *p)
{
  arguments<S> k;
  static_cast<operands &>(k) = o;
  k.alpha = make_scalar_arg<S>(p->alpha);
  k.beta = make_scalar_arg<S>(p->beta);
  return k;
}

static cudaError_t launch(const operands &o, const struct shunt_spmm *p, int size, int tile,
                          cudaStream_t stream)
{
  switch (p->a.value_type) {
  case SHUNT_F16: return launch_f16(with_scalars<float>(o, p), size, tile, stream);
  case SHUNT_BF16: return launch_bf16(with_scalars<float>(o, p), size, tile, stream);
  case SHUNT_F32: return launch_f32(with_scalars<float>(o, p), size, tile, stream);
  case SHUNT_I8:
    return p->compute == SHUNT_I32 ? launch_i8(with_scalars<int32_t>(o, p), size, tile, stream)
                                   : launch_i8(with_scalars<float>(o, p), size, tile, stream);
  default: return launch_f64(with_scalars<double>(o, p), size, tile, stream);
  }
}

static bool types_known(const struct shunt_spmm *p)
{
  const shunt_type t = p->a.value_type;
  if (p->b.type != t) return false;
  if (is_half(p)) return (p->c.type == t || p->c.type == SHUNT_F32) && p->compute == SHUNT_F32;
  if (is_integer(p))
    return (p->c.type == SHUNT_I32 || p->c.type == SHUNT_F32) && p->compute == p->c.type;
  return (t == SHUNT_F32 || t == SHUNT_F64) && p->c.type == t && p->compute == t;
}

} // namespace bsr
} // namespace shunt

using namespace shunt::bsr;

extern "C" shunt_status shunt_bsr_spmm_check(const struct shunt_spmm *p,
                                             const struct shunt_block_shape *s)
{
  if (!types_known(p) || p->only_if || !size_known(s->size)) return SHUNT_E_UNSUPPORTED;
  const shunt_status sizes = shunt::check_spmm_sizes(p);
  if (sizes != SHUNT_OK) return sizes;
  if (p->a.rows % s->size || p->a.cols % s->size || s->wide < 0) return SHUNT_E_ARGUMENT;
  if (p->a.rows > INT32_MAX - 1024 || p->a.cols > INT32_MAX - 1024 || p->a.nnz > INT32_MAX - 1024)
    return SHUNT_E_UNSUPPORTED;
  if (p->b.cols > 65535 * INT64_C(16)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

extern "C" size_t shunt_bsr_spmm_workspace(const struct shunt_spmm *p)
{
  return shunt::b_in_place(p->b) ? 0 : shunt::aligned_copy_bytes(p->b);
}

extern "C" shunt_status shunt_bsr_spmm_shaped_cuda(const struct shunt_spmm *p,
                                                   const struct shunt_block_shape *shape, int tile,
                                                   int log2_slices, const struct shunt_device *d,
                                                   void *workspace, size_t workspace_bytes,
                                                   shunt_stream stream)
{
  shunt_status s = shunt_bsr_spmm_check(p, shape);
  if (s != SHUNT_OK) return s;
  if (!cut_fits(p, shape, tile, log2_slices)) return SHUNT_E_UNSUPPORTED;
  if (reinterpret_cast<uintptr_t>(p->a.values) % SHUNT_BSR_ALIGNMENT != 0)
    return SHUNT_E_UNSUPPORTED;

  struct shunt_dense b;
  s = shunt::place_b(p->b, workspace, workspace_bytes, &b);
  if (s != SHUNT_OK) return s;
  const struct cut cut = {tile, log2_slices};
  operands k;
  s = fill_operands(&k, p, shape, &b, &cut);
  if (s == SHUNT_OK) s = shunt::copy_b(p->b, b, d, stream);
  if (s != SHUNT_OK) return s;
  const cudaError_t e = launch(k, p, static_cast<int>(shape->size), tile, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_bsr_spmm_cuda(const struct shunt_spmm *p,
                                            const struct shunt_block_shape *shape,
                                            const struct shunt_device *d, void *workspace,
                                            size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = shunt_bsr_spmm_check(p, shape);
  if (s != SHUNT_OK) return s;
  const struct cut c = cut_of(p, shape, d);
  return shunt_bsr_spmm_shaped_cuda(p, shape, c.tile, c.log2_slices, d, workspace, workspace_bytes,
                                    stream);
}
