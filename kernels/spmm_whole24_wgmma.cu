// spmm_whole24_wgmma.cu: checks, choice of shape and launch of spmm_whole24_wgmma.cuh.
#include "kernels/whole24_kernels.h"

#if defined SHUNT_HAVE_WGMMA || defined SHUNT_EMULATED
#include "kernels/spmm_csr_rows_launch.cuh"
#include "kernels/spmm_whole24_wgmma.cuh"
#include "kernels/tensor_map.h"
#include "kernels/tensor_operand.h"

namespace shunt
{
namespace whole24
{
namespace
{

// C is the product itself, not what is combined from it later.
bool in_place(const struct shunt_spmm *p, const struct shunt_repair *r)
{
  return r->product->values == p->c.values;
}

shunt_status check(const struct shunt_spmm *p, const struct shunt_whole24 *v,
                   const struct shunt_repair *r, const struct shunt_device *d)
{
  const shunt_type t = p->b.type;
  const int64_t most = INT32_MAX - 1024; // of C in the kernel's coordinates
  const struct shunt_dense *to = r->product;
  if (!to || v->rows != p->c.rows || v->cols != p->b.rows || v->value_type != t ||
      p->c.cols != p->b.cols || p->a.rows != v->rows || p->a.cols != v->cols ||
      to->rows != p->c.rows || to->cols != p->c.cols)
    return SHUNT_E_ARGUMENT;
  if ((t != SHUNT_F16 && t != SHUNT_BF16) || p->a.value_type != t) return SHUNT_E_UNSUPPORTED;
  if (p->c.type != t && p->c.type != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (to->type != (in_place(p, r) ? p->c.type : SHUNT_F32)) return SHUNT_E_ARGUMENT;
  if (in_place(p, r) && (p->beta.device || p->beta.host != 0)) return SHUNT_E_UNSUPPORTED;
  if (p->compute != SHUNT_F32 || p->c.cols < 1 || p->c.cols > most) return SHUNT_E_UNSUPPORTED;
  if (!on_16_bytes(as_stored(p->b))) return SHUNT_E_UNSUPPORTED;
  return d->compute_capability == 90 && d->multiprocessors <= arrival_most_blocks &&
                 shape_256::kBytes <= (uint32_t)d->shared_per_block &&
                 shape_128::kBytes <= (uint32_t)d->shared_per_block
             ? SHUNT_OK
             : SHUNT_E_UNSUPPORTED;
}

arguments make_arguments(const struct shunt_spmm *p, const struct shunt_whole24 *v,
                         const struct shunt_repair *r, int columns)
{
  static const struct shunt_scalar one = {NULL, 1};
  const struct shunt_dense *to = r->product;
  arguments k = {};
  k.a = static_cast<const char *>(v->tiles);
  k.chunks = static_cast<int>(v->chunks);
  k.tiles_down = static_cast<int>(v->bands / kGroups);
  k.tiles_across = static_cast<int>(ceil_div(p->c.cols, columns));
  k.c = {to->values,
         to->rows,
         to->cols,
         to->row_stride,
         to->col_stride,
         make_scalar_arg<float>(in_place(p, r) ? p->alpha : one),
         to->type == SHUNT_F32,
         on_16_bytes(*to)};
  k.repairs_wide = p->c.type == SHUNT_F32;
  return k;
}

// How blocks agree on a repair, and share it.
shunt_status make_repair(const struct shunt_spmm *p, const struct shunt_repair *r,
                         const struct shunt_device *d, spmm_rows::repair_args *to)
{
  const int64_t strips = p->c.rows * ceil_div(p->c.cols, 32), most_pieces = 1 << 16;
  const shunt_status s = spmm_rows::make_repair_args(p, r, to);
  to->piece = strips > 4 * most_pieces ? ceil_div(strips, most_pieces) : 4;
  to->helpers = d->multiprocessors;
  return s;
}

struct rows_side {
  spmm_rows::args<float> a;
  spmm_rows::repair_args r;
};

// A block for each multiprocessor: those that no tile is left for hash only.
template <class T, int BMajor, class Shape>
shunt_status launch(const arguments &k, const CUtensorMap &map, const rows_side &rows,
                    const struct shunt_device *d, cudaStream_t stream)
{
  const auto kernel = &spmm_whole24<T, BMajor, Shape>;
  // Kept by the context, which the program may destroy: so asked for each time.
  if (cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                           Shape::kBytes) != cudaSuccess)
    return SHUNT_E_CUDA;
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(d->multiprocessors);
  config.blockDim = dim3(Shape::kThreads);
  config.dynamicSmemBytes = Shape::kBytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, k, map, rows.a, rows.r) == cudaSuccess ? SHUNT_OK
                                                                                    : SHUNT_E_CUDA;
}

template <class Shape>
shunt_status launch_shape(const struct shunt_spmm *p, const struct shunt_whole24 *v,
                          const struct shunt_repair *r, const struct shunt_device *d,
                          cudaStream_t stream)
{
  arguments k = make_arguments(p, v, r, Shape::kColumns);
  const int64_t tiles = static_cast<int64_t>(k.tiles_down) * k.tiles_across;
  rows_side rows;
  CUtensorMap map;
  const shunt_status s = make_repair(p, r, d, &rows.r);
  if (s != SHUNT_OK) return s;
  if (tiles > INT32_MAX / 2 || !make_tensor_map(&map, as_stored(p->b), 64, 64))
    return SHUNT_E_UNSUPPORTED;
  k.tiles = static_cast<int>(tiles);
  spmm_rows::plan how = {};
  how.direct = true;
  rows.a = spmm_rows::make_args<float>(p, how, nullptr);
  const bool row_major = p->b.col_stride == 1;
  if (p->b.type == SHUNT_F16)
    return row_major ? launch<__half, 1, Shape>(k, map, rows, d, stream)
                     : launch<__half, 0, Shape>(k, map, rows, d, stream);
  return row_major ? launch<__nv_bfloat16, 1, Shape>(k, map, rows, d, stream)
                   : launch<__nv_bfloat16, 0, Shape>(k, map, rows, d, stream);
}

} // namespace
} // namespace whole24
} // namespace shunt

// Microseconds on an H200: a multiprocessor's tiles by 64 of K, and what hashing A adds to them, or
// takes where only three warps do it.
extern "C" int shunt_spmm_whole24_columns(const struct shunt_spmm *p, const struct shunt_device *d)
{
  using namespace shunt::whole24;
  using shunt::ceil_div;
  const int64_t down = ceil_div(p->c.rows, kRows), at_once = d->multiprocessors;
  const double chunks = static_cast<double>(ceil_div(p->b.rows, kDepth));
  const double narrow = static_cast<double>(ceil_div(down * ceil_div(p->c.cols, 128), at_once)),
               wide = static_cast<double>(ceil_div(down * ceil_div(p->c.cols, 256), at_once));
  const size_t entry = shunt_type_size(p->a.index_type) + shunt_type_size(p->a.value_type);
  const double read = 1e-6 * static_cast<double>(p->a.nnz) * static_cast<double>(entry);
  const double of_wide = 0.55 * wide * chunks, hash = 0.55 * read;
  return 0.27 * narrow * chunks + 0.12 * read < (of_wide > hash ? of_wide : hash) ? 128 : 256;
}

extern "C" shunt_status shunt_spmm_whole24_shaped_cuda(const struct shunt_spmm *p,
                                                       const struct shunt_whole24 *v, int columns,
                                                       const struct shunt_repair *r,
                                                       const struct shunt_device *d,
                                                       shunt_stream stream)
{
  using namespace shunt::whole24;
  const shunt_status s = check(p, v, r, d);
  if (s != SHUNT_OK) return s;
  if (columns == 128) return launch_shape<shape_128>(p, v, r, d, stream);
  return columns == 256 ? launch_shape<shape_256>(p, v, r, d, stream) : SHUNT_E_UNSUPPORTED;
}
#else
extern "C" int shunt_spmm_whole24_columns(const struct shunt_spmm *, const struct shunt_device *)
{
  return 0;
}

extern "C" shunt_status shunt_spmm_whole24_shaped_cuda(const struct shunt_spmm *,
                                                       const struct shunt_whole24 *, int,
                                                       const struct shunt_repair *,
                                                       const struct shunt_device *, shunt_stream)
{
  return SHUNT_E_UNSUPPORTED;
}
#endif

extern "C" shunt_status shunt_spmm_whole24_cuda(const struct shunt_spmm *p,
                                                const struct shunt_whole24 *v,
                                                const struct shunt_repair *r,
                                                const struct shunt_device *d, shunt_stream stream)
{
  return shunt_spmm_whole24_shaped_cuda(p, v, shunt_spmm_whole24_columns(p, d), r, d, stream);
}
