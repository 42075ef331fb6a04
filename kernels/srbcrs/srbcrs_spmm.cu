// srbcrs_spmm.cu: checks, shape and launch of SpMM over strides (srbcrs_spmm.cuh).
#include "kernels/common/spmm_operands.cuh"
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "kernels/srbcrs/srbcrs_spmm.cuh"

namespace shunt
{
namespace srbcrs
{

static shunt_status check(const struct shunt_spmm *p, const struct shunt_srbcrs *v)
{
  const shunt_type t = p->compute;
  const shunt_status s = check_spmm_sizes(p);
  if (s != SHUNT_OK) return s;
  if (p->a.value_type != SHUNT_I8 || p->b.type != SHUNT_I8 || p->only_if)
    return SHUNT_E_UNSUPPORTED;
  if ((t != SHUNT_I32 && t != SHUNT_F32) || p->c.type != t) return SHUNT_E_UNSUPPORTED;
  if (t == SHUNT_F32 && p->a.cols > SHUNT_SRBCRS_EXACT) return SHUNT_E_UNSUPPORTED;
  if (p->b.row_stride != 1 && p->b.col_stride != 1) return SHUNT_E_ARGUMENT;
  if (p->b.cols > INT32_MAX - 1024) return SHUNT_E_UNSUPPORTED;
  if (v && (v->rows != p->a.rows || v->cols != p->a.cols)) return SHUNT_E_ARGUMENT;
  return SHUNT_OK;
}

static int64_t units_of(const struct shunt_spmm *p, int height, int columns)
{
  return (p->a.rows + height - 1) / height * ((p->b.cols + columns - 1) / columns);
}

template <class T>
static arguments<T> make_arguments(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                                   const struct shunt_dense *b)
{
  arguments<T> k = {};
  k.v = *v;
  k.b = static_cast<const int8_t *>(b->values);
  k.b_row_bytes = b->row_stride;
  k.c = static_cast<T *>(p->c.values);
  k.c_row_stride = p->c.row_stride;
  k.c_col_stride = p->c.col_stride;
  k.n = static_cast<int>(p->b.cols);
  k.c_wide = aligned(p->c);
  k.alpha = make_scalar_arg<T>(p->alpha);
  k.beta = make_scalar_arg<T>(p->beta);
  return k;
}

template <class T, int X, int Split>
static cudaError_t launch(const arguments<T> &k, cudaStream_t stream)
{
  const int64_t units = k.v.groups * static_cast<int64_t>((k.n + 8 * X - 1) / (8 * X));
  const int64_t blocks = (units + kWarps / Split - 1) / (kWarps / Split);
  if (blocks > INT32_MAX) return cudaErrorNotSupported;
  spmm_strides<T, X, Split><<<static_cast<unsigned>(blocks), kWarps * 32, 0, stream>>>(k);
  return cudaGetLastError();
}

template <class T, int X>
static cudaError_t launch_split(const arguments<T> &k, int split, cudaStream_t stream)
{
  return split == 1 ? launch<T, X, 1>(k, stream) : launch<T, X, kWarps>(k, stream);
}

template <class T>
static cudaError_t launch_shape(const arguments<T> &k, const struct shunt_srbcrs_shape *s,
                                cudaStream_t stream)
{
  if (s->columns == 32) return launch_split<T, 4>(k, s->split, stream);
  if (s->columns == 64) return launch_split<T, 8>(k, s->split, stream);
  return launch_split<T, 16>(k, s->split, stream);
}

static bool is_shape(const struct shunt_srbcrs_shape *s)
{
  return (s->columns == 32 || s->columns == 64 || s->columns == 128) &&
         (s->split == 1 || s->split == kWarps);
}

} // namespace srbcrs
} // namespace shunt

using namespace shunt;
using namespace shunt::srbcrs;

extern "C" struct shunt_srbcrs_shape shunt_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                             const struct shunt_device *d)
{
  const int64_t some = INT64_C(8) * d->multiprocessors; // warps that hide what loads take
  struct shunt_srbcrs_shape s = {128, kWarps};
  while (s.columns > 32 &&
         (s.columns / 2 >= p->b.cols || units_of(p, height, s.columns) * kWarps < some))
    s.columns /= 2;
  if (units_of(p, height, s.columns) >= 2 * some) s.split = 1;
  return s;
}

extern "C" size_t shunt_srbcrs_spmm_workspace(const struct shunt_spmm *p)
{
  if (shunt::srbcrs::check(p, NULL) != SHUNT_OK || b_in_place(p->b)) return 0;
  return aligned_copy_bytes(p->b);
}

extern "C" shunt_status shunt_srbcrs_spmm_shaped_cuda(const struct shunt_spmm *p,
                                                      const struct shunt_srbcrs *v,
                                                      const struct shunt_srbcrs_shape *shape,
                                                      const struct shunt_device *d, void *workspace,
                                                      size_t workspace_bytes, shunt_stream stream)
{
  shunt_status s = shunt::srbcrs::check(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80 || !is_shape(shape)) return SHUNT_E_UNSUPPORTED;
  struct shunt_dense b;
  s = place_b(p->b, workspace, workspace_bytes, &b);
  if (s == SHUNT_OK) s = copy_b(p->b, b, d, stream);
  if (s != SHUNT_OK) return s;
  const cudaError_t e = p->compute == SHUNT_I32
                            ? launch_shape(make_arguments<int32_t>(p, v, &b), shape, stream)
                            : launch_shape(make_arguments<float>(p, v, &b), shape, stream);
  return e == cudaSuccess             ? SHUNT_OK
         : e == cudaErrorNotSupported ? SHUNT_E_UNSUPPORTED
                                      : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_srbcrs_spmm_cuda(const struct shunt_spmm *p,
                                               const struct shunt_srbcrs *v,
                                               const struct shunt_device *d, void *workspace,
                                               size_t workspace_bytes, shunt_stream stream)
{
  const struct shunt_srbcrs_shape shape = shunt_srbcrs_spmm_shape(p, v->height, d);
  return shunt_srbcrs_spmm_shaped_cuda(p, v, &shape, d, workspace, workspace_bytes, stream);
}
