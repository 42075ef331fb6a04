// csr_operands.cuh: C = alpha A B + beta C as kernels read it that take A in CSR where it stands
// (kernels/csr, kernels/guard), and the loads and stores that they share.
#pragma once
#include <stdint.h>

#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"

namespace shunt
{

// A m x k in CSR, B k x n, C m x n; strides in elements.  T is the compute type.
template <class T> struct csr_operands {
  const void *offsets, *columns, *values;
  int64_t rows, nonzeros;
  int base;
  bool wide; // 64-bit indices

  const void *b;
  int64_t b_row_stride, b_col_stride;

  void *c;
  int64_t c_row_stride, c_col_stride;
  int64_t n;

  scalar_arg<T> alpha, beta;
  const uint32_t *only_if; // device word: 0, and nothing is done; or NULL
};

template <class T> inline csr_operands<T> make_csr_operands(const struct shunt_spmm *p)
{
  csr_operands<T> a = {};
  a.offsets = p->a.row_offsets;
  a.columns = p->a.columns;
  a.values = p->a.values;
  a.rows = p->a.rows;
  a.nonzeros = p->a.nnz;
  a.base = p->a.base;
  a.wide = p->a.index_type == SHUNT_I64;
  a.b = p->b.values;
  a.b_row_stride = p->b.row_stride;
  a.b_col_stride = p->b.col_stride;
  a.c = p->c.values;
  a.c_row_stride = p->c.row_stride;
  a.c_col_stride = p->c.col_stride;
  a.n = p->c.cols;
  a.alpha = make_scalar_arg<T>(p->alpha);
  a.beta = make_scalar_arg<T>(p->beta);
  a.only_if = p->only_if;
  return a;
}

// What every product takes that has A in CSR where it stands: one type of A and B, indices of 32 or
// 64 bits, B and C in either order, sizes that agree for a product of rows x cols
// of A.
inline shunt_status check_csr_sizes(const struct shunt_spmm *p, int64_t rows, int64_t cols)
{
  const struct shunt_dense &b = p->b, &c = p->c;
  if (p->a.index_type != SHUNT_I32 && p->a.index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (b.rows != cols || c.rows != rows || c.cols != b.cols) return SHUNT_E_ARGUMENT;
  if (b.row_stride != 1 && b.col_stride != 1) return SHUNT_E_ARGUMENT;
  return c.row_stride == 1 || c.col_stride == 1 ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

// The same of kernels that read A and B in one type.
inline shunt_status check_csr_operands(const struct shunt_spmm *p, int64_t rows, int64_t cols)
{
  return p->a.value_type == p->b.type ? check_csr_sizes(p, rows, cols) : SHUNT_E_UNSUPPORTED;
}

// Element i of an index array, base removed by the caller.
__device__ __forceinline__ int64_t load_index(const void *array, int64_t i, bool wide)
{
  return wide ? __ldg(static_cast<const long long *>(array) + i)
              : __ldg(static_cast<const int *>(array) + i);
}

// value + beta * old; as in cuSPARSE a complex beta of 1 keeps a NaN or Inf of one part to that part.
template <class T> __device__ __forceinline__ T add_old(T value, T beta, T old)
{
  return multiply_add(beta, old, value);
}
template <class R>
__device__ __forceinline__ complex<R> add_old(complex<R> value, complex<R> beta, complex<R> old)
{
  return beta == complex<R>(1) ? add(value, old) : multiply_add(beta, old, value);
}

// alpha * sum + beta * old, rounded once; `old` is not looked at when beta is 0.
template <class Out, class T> __device__ __forceinline__ Out finish(T sum, T alpha, T beta, Out old)
{
  T value = scale(alpha, sum);
  if (beta != T(0)) value = add_old(value, beta, widen<T>(old));
  return narrow<Out>(value);
}

// One element of C.
template <class Out, class T>
__device__ __forceinline__ void store_element(const csr_operands<T> &a, int64_t row, int64_t col,
                                              T sum, T alpha, T beta)
{
  Out *c = static_cast<Out *>(a.c) + row * a.c_row_stride + col * a.c_col_stride;
  Out old = beta != T(0) ? *c : Out();
  *c = finish<Out>(sum, alpha, beta, old);
}

} // namespace shunt
