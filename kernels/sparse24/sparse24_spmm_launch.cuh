// sparse24_spmm_launch.cuh: launch of sparse24_spmm_wgmma.cuh, for one type of values.
#pragma once
#include "kernels/common/allow_shared.h"
#include "kernels/common/tensor_map.h"
#include "kernels/common/tensor_operand.h"
#include "kernels/sparse24/sparse24_spmm_wgmma.cuh"

namespace shunt
{
namespace sparse24
{

// The product goes to C itself, not to a matrix that C is combined from later.
inline bool writes_c(const struct shunt_spmm *p, const struct shunt_guard *r)
{
  return r->product->values == p->c.values;
}

// B as the copy engine sees it: rows of memory, which for int8 are its columns.
inline struct shunt_dense operand_of(const struct shunt_dense &b)
{
  if (b.type != SHUNT_I8) return as_stored(b);
  return {b.cols, b.rows, b.col_stride, b.row_stride, b.values, b.type};
}

template <class C>
arguments<C> make_arguments(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                            const struct shunt_guard *r, int columns)
{
  static const struct shunt_scalar one = {NULL, 1, 0};
  const struct shunt_dense *to = r->product;
  arguments<C> k = {};
  k.a = static_cast<const char *>(v->tiles);
  k.chunks = static_cast<int>(v->chunks);
  k.tiles_down = static_cast<int>(v->bands / kGroups);
  k.tiles_across = static_cast<int>(shunt_div_up(p->c.cols, columns));
  k.last_box = static_cast<int>((p->c.cols - 1) / 64 * 64);
  k.c = {to->values,
         to->rows,
         to->cols,
         to->row_stride,
         to->col_stride,
         make_scalar_arg<C>(writes_c(p, r) ? p->alpha : one),
         to->type == SHUNT_F32,
         on_16_bytes(*to)};
  k.repairs_wide = p->c.type == SHUNT_F32;
  return k;
}

// The values of a matrix whose quads are all full, as the copy engine sees them.
inline struct shunt_dense values_of(const struct shunt_csr &a)
{
  return {a.rows, a.cols / 2, a.cols / 2, 1, const_cast<void *>(a.values), a.value_type};
}

// How blocks agree on a repair, and share it.  of_pattern: A's values are not hashed.
inline shunt_status make_repair(const struct shunt_spmm *p, const struct shunt_guard *r,
                                const struct shunt_device *d, bool of_pattern,
                                guard::repair_args *to)
{
  struct shunt_spmm hashed = *p;
  if (of_pattern) hashed.a.values = NULL;
  return guard::make_repair_args(&hashed, r, d->multiprocessors, to);
}

// What a launch is told beside the problem: how A is proved, and how C is repaired.
struct proving {
  struct shunt_sparse24_proof how;
  const struct shunt_guard *guard;
};

template <class C> struct rows_side {
  csr_operands<C> a;
  guard::repair_args r;
};

// A block for each multiprocessor: those that no tile is left for hash only.
template <class T, int BMajor, class Shape>
shunt_status launch(const arguments<typename T::compute> &k, const tensor_maps &maps,
                    const rows_side<typename T::compute> &rows, const struct shunt_device *d,
                    cudaStream_t stream)
{
  constexpr auto kernel = &spmm_sparse24<T, BMajor, Shape>;
  if (allow_shared<kernel>(Shape::kBytes) != cudaSuccess) return SHUNT_E_CUDA;
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
  return cudaLaunchKernelEx(&config, kernel, k, maps, rows.a, rows.r) == cudaSuccess ? SHUNT_OK
                                                                                     : SHUNT_E_CUDA;
}

template <class T, class Shape>
shunt_status launch_shape(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                          const proving &r, const struct shunt_device *d, cudaStream_t stream)
{
  using compute = typename T::compute;
  arguments<compute> k = make_arguments<compute>(p, v, r.guard, Shape::kColumns);
  const int64_t tiles = static_cast<int64_t>(k.tiles_down) * k.tiles_across;
  rows_side<compute> rows;
  tensor_maps maps = {};
  const shunt_status s = make_repair(p, r.guard, d, Shape::kInPlace, &rows.r);
  if (s != SHUNT_OK) return s;
  if (tiles > INT32_MAX / 2 || !make_tensor_map(&maps.b, operand_of(p->b), 64, 128 / Shape::kSize))
    return SHUNT_E_UNSUPPORTED;
  if (Shape::kInPlace && !make_tensor_map(&maps.values, values_of(p->a), kRows, 64))
    return SHUNT_E_UNSUPPORTED;
  k.tiles = static_cast<int>(tiles);
  if (rows.r.expected && r.how.compares) {
    k.columns = make_column_job(p->a, *v);
    k.spared = r.how.spared;
  }
  rows.a = make_csr_operands<compute>(p);
  if constexpr (!T::whole_numbers)
    if (p->b.col_stride == 1) return launch<T, 1, Shape>(k, maps, rows, d, stream);
  return launch<T, 0, Shape>(k, maps, rows, d, stream);
}

template <class T>
shunt_status launch_as(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                       enum shunt_sparse24_shape shape, const proving &r,
                       const struct shunt_device *d, cudaStream_t stream)
{
  constexpr int size = sizeof(typename T::stored);
  switch (shape) {
  case SHUNT_SPARSE24_128: return launch_shape<T, shape_128<size>>(p, v, r, d, stream);
  case SHUNT_SPARSE24_256: return launch_shape<T, shape_256<size>>(p, v, r, d, stream);
  case SHUNT_SPARSE24_2X128: return launch_shape<T, shape_2x128<size>>(p, v, r, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

template <class T>
shunt_status launch_in_place(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                             enum shunt_sparse24_shape shape, const proving &r,
                             const struct shunt_device *d, cudaStream_t stream)
{
  switch (shape) {
  case SHUNT_SPARSE24_128: return launch_shape<T, in_place_128>(p, v, r, d, stream);
  case SHUNT_SPARSE24_256: return launch_shape<T, in_place_256>(p, v, r, d, stream);
  case SHUNT_SPARSE24_2X128: return launch_shape<T, in_place_2x128>(p, v, r, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

// sparse24_spmm_in_place_wgmma.cu: for 16 bits
shunt_status launch_16_in_place(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                                enum shunt_sparse24_shape shape, const proving &r,
                                const struct shunt_device *d, cudaStream_t stream);
// sparse24_spmm_i8_wgmma.cu
shunt_status launch_i8(const struct shunt_spmm *p, const struct shunt_sparse24 *v,
                       enum shunt_sparse24_shape shape, const proving &r,
                       const struct shunt_device *d, cudaStream_t stream);

} // namespace sparse24
} // namespace shunt
