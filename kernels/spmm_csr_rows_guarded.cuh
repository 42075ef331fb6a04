// spmm_csr_rows_guarded.cuh: the kernel that runs only if a device word says so.
//
// For repairs: rare, so nothing is spent on speed, and nothing but C is written.  A
// warp takes 32 columns of one row at a time and reads B where it stands, in any
// layout; all sizes are 64 bits wide.
#pragma once
#include "kernels/spmm_csr_rows.cuh"

namespace shunt {
namespace spmm_rows {

template <class S, class Out, class T>
__global__ void __launch_bounds__(kThreads)
    spmm_csr_rows_guarded(const __grid_constant__ args<T> a)
{
  if (a.only_if && *a.only_if == 0) return;
  const T alpha = a.alpha.get(), beta = a.beta.get();
  const S *values = static_cast<const S *>(a.values);
  const S *b = static_cast<const S *>(a.b);
  const int64_t strips = (a.n + 31) / 32;
  const int64_t warps = (int64_t)gridDim.x * (kThreads / 32);

  for (int64_t w = (blockIdx.x * (int64_t)kThreads + threadIdx.x) / 32; w < a.rows * strips;
       w += warps) {
    const int64_t row = w / strips;
    const int64_t col = w % strips * 32 + threadIdx.x % 32;
    if (col >= a.n) continue;
    const int64_t begin = load_index(a.offsets, row, a.wide) - a.base;
    const int64_t end = load_index(a.offsets, row + 1, a.wide) - a.base;
    T sum = T(0);
#pragma unroll 8
    for (int64_t p = begin; p < end; p++) {
      const int64_t k = load_index(a.columns, p, a.wide) - a.base;
      sum = multiply_add(widen<T>(values[p]), widen<T>(b[k * a.b_row_stride + col * a.b_col_stride]),
                         sum);
    }
    store_element<Out>(a, row, col, sum, alpha, beta);
  }
}

}  // namespace spmm_rows
}  // namespace shunt
