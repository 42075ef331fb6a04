// dense_sddmm_wgmma.cu: checks and launch of dense_sddmm_wgmma.cuh.
#include "kernels/dense/dense_kernels.h"

#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
#include "kernels/common/allow_shared.h"
#include "kernels/common/tensor_map.h"
#include "kernels/common/tensor_operand.h"
#include "kernels/dense/dense_sddmm_wgmma.cuh"

namespace shunt
{
namespace dense::sampled
{
namespace
{

template <class T, class Out, class I, int BMajor>
shunt_status launch(const struct shunt_sddmm *p, const struct shunt_device *d, cudaStream_t stream)
{
  const int64_t down = shunt_div_up(p->c.rows, kRows), across = shunt_div_up(p->c.cols, kColumns);
  const struct shunt_dense b = as_stored(p->b);
  CUtensorMap map_a, map_b;
  if (down > INT32_MAX / 2 / across || d->shared_per_block < room_of<Out>::kBytes ||
      !make_tensor_map(&map_a, p->a, kRows, 64) || !make_tensor_map(&map_b, b, 64, 64))
    return SHUNT_E_UNSUPPORTED;

  arguments<T, Out, I> k = {};
  k.steps = static_cast<int>(shunt_div_up(p->a.cols, kDepth));
  k.tiles = static_cast<int>(down * across);
  k.across = static_cast<int>(across);
  k.k = p->a.cols;
  k.few = p->c.rows * across * 20;
  k.a = {static_cast<const T *>(p->a.values), p->a.row_stride, p->a.col_stride};
  k.b = {static_cast<const T *>(p->b.values), p->b.row_stride, p->b.col_stride};
  k.c = {static_cast<const I *>(p->c.row_offsets), static_cast<const I *>(p->c.columns), p->c.rows,
         static_cast<I>(p->c.nnz), static_cast<I>(p->c.base)};
  k.values = static_cast<Out *>(p->c.values);
  k.alpha = make_scalar_arg<float>(p->alpha);
  const auto kernel = &sddmm_dense<T, Out, I, BMajor>;
  if (allow_shared<&sddmm_dense<T, Out, I, BMajor>>(room_of<Out>::kBytes) != cudaSuccess)
    return SHUNT_E_CUDA;
  // As many tiles each as some must have: more blocks would only cut rows of tiles more often.
  const int64_t each = shunt_div_up(k.tiles, d->multiprocessors);
  const int blocks = static_cast<int>(shunt_div_up(k.tiles, each));
  return launch_early_with(room_of<Out>::kBytes, kernel, dim3(blocks), dim3(kThreads), d, stream, k,
                           map_a, map_b);
}

template <class T, class Out, class I>
shunt_status launch_order(const struct shunt_sddmm *p, const struct shunt_device *d,
                          cudaStream_t stream)
{
  return p->b.col_stride == 1 ? launch<T, Out, I, 1>(p, d, stream)
                              : launch<T, Out, I, 0>(p, d, stream);
}

template <class T, class Out>
shunt_status launch_index(const struct shunt_sddmm *p, const struct shunt_device *d,
                          cudaStream_t stream)
{
  return p->c.index_type == SHUNT_I32 ? launch_order<T, Out, int32_t>(p, d, stream)
                                      : launch_order<T, Out, int64_t>(p, d, stream);
}

template <class T>
shunt_status launch_result(const struct shunt_sddmm *p, const struct shunt_device *d,
                           cudaStream_t stream)
{
  return p->c.value_type == SHUNT_F32 ? launch_index<T, float>(p, d, stream)
                                      : launch_index<T, T>(p, d, stream);
}

} // namespace
} // namespace dense::sampled
} // namespace shunt
#endif

// Whether shapes and types are ones that the kernel is built for.
static shunt_status check(const struct shunt_sddmm *p)
{
  const struct shunt_csr *c = &p->c;
  const shunt_type t = p->a.type;
  if (p->a.rows != c->rows || p->b.cols != c->cols || p->a.cols != p->b.rows)
    return SHUNT_E_ARGUMENT;
  if ((t != SHUNT_F16 && t != SHUNT_BF16) || p->b.type != t || p->compute != SHUNT_F32)
    return SHUNT_E_UNSUPPORTED;
  if (c->value_type != t && c->value_type != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->beta.device || p->beta.host != 0) return SHUNT_E_UNSUPPORTED;
  if (c->index_type != SHUNT_I32 && c->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  // Positions run two chunks past the end before they are cut off, rows and columns a tile.
  if (c->rows > INT32_MAX - 512 || c->cols > INT32_MAX - 512 ||
      (c->index_type == SHUNT_I32 && c->nnz > INT32_MAX - 64))
    return SHUNT_E_UNSUPPORTED;
  return p->a.cols > 0 && p->a.cols < INT32_MAX / 2 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

extern "C" bool shunt_dense_sddmm_takes(const struct shunt_sddmm *p, const struct shunt_device *d)
{
#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
  return check(p) == SHUNT_OK && d->compute_capability == 90 && shunt::on_16_bytes(p->a) &&
         shunt::on_16_bytes(shunt::as_stored(p->b));
#else
  (void)p, (void)d;
  return false;
#endif
}

extern "C" shunt_status shunt_dense_sddmm_cuda(const struct shunt_sddmm *p,
                                               const struct shunt_device *d, shunt_stream stream)
{
  const shunt_status s = check(p);
  if (s != SHUNT_OK || p->c.nnz == 0) return s;
  if (!shunt_dense_sddmm_takes(p, d)) return SHUNT_E_UNSUPPORTED;
#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
  using namespace shunt;
  return p->a.type == SHUNT_F16 ? dense::sampled::launch_result<__half>(p, d, stream)
                                : dense::sampled::launch_result<__nv_bfloat16>(p, d, stream);
#else
  (void)stream;
  return SHUNT_E_UNSUPPORTED;
#endif
}
