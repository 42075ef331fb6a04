// spmm_tile24.cu: checks, choice of width and launch of SpMM over the `tile24` format.
//
// The kernel: spmm_tile24.cuh.
#include "kernels/spmm_tile24.cuh"
#include "kernels/tile24_kernels.h"

namespace shunt
{
namespace tile24
{

static shunt_status check(const struct shunt_spmm *p, const struct shunt_tile24 *v)
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

static arguments make_arguments(const struct shunt_spmm *p, const struct shunt_tile24 *v,
                                const struct shunt_dense *b)
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
  k.c_pairs = p->c.col_stride == 1 && p->c.row_stride % 2 == 0 &&
              reinterpret_cast<uintptr_t>(p->c.values) % pair == 0;
  k.alpha = make_scalar_arg<float>(p->alpha);
  k.beta = make_scalar_arg<float>(p->beta);
  return k;
}

// ---- launch ------------------------------------------------------------------------------

template <class T, class Out, int Tile>
static cudaError_t launch_tile(const arguments &p, cudaStream_t stream)
{
  const dim3 grid((p.blocks + kWarps - 1) / kWarps, (p.n + Tile - 1) / Tile);
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(&spmm_tile24<T, Out, Tile>), grid,
                          dim3(kThreads), parameters, 0, stream);
}

// 128 columns, unless that leaves half of the multiprocessors without work or most of the
// last 128 empty.
template <class T, class Out>
static cudaError_t launch_out(const arguments &p, const struct shunt_device *d, cudaStream_t stream)
{
  const int64_t wide = (p.n + 127) / 128, tall = (p.blocks + kWarps - 1) / kWarps;
  const bool narrow = (p.n - 1) % 128 < 64 && p.n < 256;
  if (narrow || tall * wide * 2 <= d->multiprocessors) return launch_tile<T, Out, 64>(p, stream);
  return launch_tile<T, Out, 128>(p, stream);
}

template <class T>
static cudaError_t launch(const arguments &p, shunt_type out, const struct shunt_device *d,
                          cudaStream_t stream)
{
  return out == SHUNT_F32 ? launch_out<T, float>(p, d, stream) : launch_out<T, T>(p, d, stream);
}

} // namespace tile24
} // namespace shunt

using namespace shunt::tile24;

extern "C" size_t shunt_spmm_tile24_workspace(const struct shunt_spmm *p)
{
  if (check(p, NULL) != SHUNT_OK || b_in_place(p)) return 0;
  return b_copy_bytes(p);
}

extern "C" shunt_status shunt_spmm_tile24_cuda(const struct shunt_spmm *p,
                                               const struct shunt_tile24 *v,
                                               const struct shunt_device *d, void *workspace,
                                               size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = check(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80) return SHUNT_E_UNSUPPORTED;
  const bool copy = !b_in_place(p) || reinterpret_cast<uintptr_t>(p->b.values) % 16 != 0;
  if (copy && (!workspace || workspace_bytes < b_copy_bytes(p) ||
               reinterpret_cast<uintptr_t>(workspace) % 256 != 0))
    return SHUNT_E_WORKSPACE;
  const struct shunt_dense b = copy ? b_copy(p, workspace) : p->b;
  if (copy) {
    s = shunt_dense_copy_cuda(&p->b, &b, d, stream);
    if (s != SHUNT_OK) return s;
  }
  const arguments k = make_arguments(p, v, &b);
  const cudaError_t e = p->a.value_type == SHUNT_F16
                            ? launch<__half>(k, p->c.type, d, stream)
                            : launch<__nv_bfloat16>(k, p->c.type, d, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
