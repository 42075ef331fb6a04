// dense_sddmm_sample.cu: C.values[p] = alpha D(i, j) + beta C.values[p] for every entry
// p = (i, j): SDDMM's second half, when the product D was computed densely.
//
//   D, row i    . x . . . x x . . . x      row-major; x: entries of row i
//   columns         c     c c       c  \   positions of row i, read and written
//   values          v     v v       v  /   along memory
//
// A warp takes RUN neighbouring entries whatever rows they belong to, four loads of D
// in flight a lane.  Columns of a row ascend as a rule, so a warp's loads fall into
// neighbouring sectors of D.  Roofline: D's sectors that hold an entry (above 6 %
// density nearly all), columns read, values written, at copy bandwidth.
#include <cuda_runtime.h>

#include "kernels/csr/csr_sddmm_common.cuh"
#include "kernels/dense/dense_kernels.h"

namespace shunt
{
namespace dense
{

using namespace csr::sddmm;
namespace
{

constexpr int THREADS = 256;
constexpr int DEPTH = 4;          // loads of D in flight
constexpr int RUN = WARP * DEPTH; // entries of a warp

template <class S> struct dense_product {
  const S *values;
  int64_t ld;
};

// S: stored type of D; T: stored type of C.
template <class S, class T, class I>
__global__ void __launch_bounds__(THREADS)
    sample_kernel(dense_product<S> product, pattern<I> c, T *__restrict__ values,
                  scalar_arg<compute_t<T>> alpha_arg, scalar_arg<compute_t<T>> beta_arg,
                  bool prescaled)
{
  using C = compute_t<T>;
  const int lane = threadIdx.x % WARP;
  const int64_t warp = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
  if (warp * RUN >= c.nnz) return;
  const I begin = I(warp * RUN), end = c.nnz - begin < RUN ? c.nnz : I(begin + RUN);
  const C alpha = prescaled ? C(1) : alpha_arg.get();
  const C beta = beta_arg.get();

  row_window<I> window;
  window.seek(c, 0, guess_row(c, begin), begin, lane);
  for (I position = begin; position < end;) {
    I limit = min(end, window.hold(c, position, lane));
    int count = (int)min(I(limit - position), I(WARP * DEPTH));
    int64_t row[DEPTH];
    S d[DEPTH];
#pragma unroll
    for (int i = 0; i < DEPTH; i++) {
      int nth = min(i * WARP + lane, count - 1);
      row[i] = window.first + window.row_of(position + nth);
      d[i] = product.values[row[i] * product.ld + (__ldg(c.columns + position + nth) - c.base)];
    }
#pragma unroll
    for (int i = 0; i < DEPTH; i++)
      if (i * WARP + lane < count)
        store_as<T>(values, position + i * WARP + lane, widen<C>(d[i]), alpha, beta);
    position += count;
    int past = (int)(__shfl_sync(ALL, row[DEPTH - 1], WARP - 1) - window.first);
    if (past >= WARP / 4) window.advance(c, past, lane);
  }
}

template <class S, class T, class I>
shunt_status launch(const struct shunt_sddmm *p, const struct shunt_dense *product, int prescaled,
                    cudaStream_t stream)
{
  using C = compute_t<T>;
  pattern<I> c{(const I *)p->c.row_offsets, (const I *)p->c.columns, p->c.rows, (I)p->c.nnz,
               (I)p->c.base};
  dense_product<S> d{(const S *)product->values, product->row_stride};
  int64_t warps = (p->c.nnz + RUN - 1) / RUN;
  int64_t blocks = (warps + THREADS / WARP - 1) / (THREADS / WARP);
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  sample_kernel<S, T, I><<<(unsigned)blocks, THREADS, 0, stream>>>(
      d, c, (T *)p->c.values, make_scalar_arg<C>(p->alpha), make_scalar_arg<C>(p->beta),
      prescaled != 0);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class S, class T>
shunt_status with_index(const struct shunt_sddmm *p, const struct shunt_dense *product,
                        int prescaled, cudaStream_t stream)
{
  if (p->c.index_type == SHUNT_I32) return launch<S, T, int32_t>(p, product, prescaled, stream);
  if (p->c.index_type == SHUNT_I64) return launch<S, T, int64_t>(p, product, prescaled, stream);
  return SHUNT_E_UNSUPPORTED;
}

} // namespace
} // namespace dense
} // namespace shunt

extern "C" shunt_status shunt_dense_sddmm_sample_cuda(const struct shunt_sddmm *p,
                                                      const struct shunt_dense *product,
                                                      int prescaled, const struct shunt_device *d,
                                                      shunt_stream stream)
{
  using namespace shunt::dense;
  (void)d;
  if (product->rows != p->c.rows || product->cols != p->c.cols) return SHUNT_E_ARGUMENT;
  if (product->col_stride != 1 && product->cols > 1) return SHUNT_E_UNSUPPORTED;
  if (p->compute != (p->c.value_type == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32))
    return SHUNT_E_UNSUPPORTED;
  if (p->c.nnz == 0) return SHUNT_OK;

  const bool wide = product->type == SHUNT_F32;
  if (product->type != p->c.value_type && !wide) return SHUNT_E_UNSUPPORTED;
  switch (p->c.value_type) {
  case SHUNT_F16:
    return wide ? with_index<float, __half>(p, product, prescaled, stream)
                : with_index<__half, __half>(p, product, prescaled, stream);
  case SHUNT_BF16:
    return wide ? with_index<float, __nv_bfloat16>(p, product, prescaled, stream)
                : with_index<__nv_bfloat16, __nv_bfloat16>(p, product, prescaled, stream);
  case SHUNT_F32: return with_index<float, float>(p, product, prescaled, stream);
  case SHUNT_F64:
    return wide ? SHUNT_E_UNSUPPORTED : with_index<double, double>(p, product, prescaled, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}
