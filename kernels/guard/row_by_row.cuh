// row_by_row.cuh: C from A in CSR, row by row: the kernel for calls under a condition and for sizes
// that no other reaches, and the device function that repairs call.
//
// Rare, so nothing is spent on speed, and nothing but C is written.  A warp takes 32 columns of
// one row at a time, a strip, and reads B where it stands, in any layout; all sizes are 64
// bits wide.  The repair (repair.cuh) takes the same strips.
#pragma once
#include "kernels/common/csr_operands.cuh"
#include "kernels/common/early_launch.cuh"

namespace shunt
{
namespace guard
{

constexpr int row_by_row_threads = 256; // of a block

// Columns [32 strip, ..) of one row of C, by one warp.
template <class S, class Out, class T>
__device__ __forceinline__ void multiply_strip(const csr_operands<T> &a, int64_t row, int64_t strip,
                                               T alpha, T beta)
{
  const S *values = static_cast<const S *>(a.values);
  const S *b = static_cast<const S *>(a.b);
  const int64_t col = strip * 32 + threadIdx.x % 32;
  if (col >= a.n) return;
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

template <class S, class Out, class T>
__global__ void __launch_bounds__(row_by_row_threads)
    spmm_row_by_row(const __grid_constant__ csr_operands<T> a)
{
  wait_for_previous();
  if (a.only_if && *a.only_if == 0) return;
  const T alpha = a.alpha.get(), beta = a.beta.get();
  const int64_t strips = (a.n + 31) / 32, warps_per_block = row_by_row_threads / 32;
  for (int64_t w = blockIdx.x * warps_per_block + threadIdx.x / 32; w < a.rows * strips;
       w += gridDim.x * warps_per_block)
    multiply_strip<S, Out, T>(a, w / strips, w % strips, alpha, beta);
}

} // namespace guard
} // namespace shunt
