// reference.cu: a result against a float64 sum, on the GPU.
//
// One thread per entry of the result walks its row (SpMM) or the inner dimension
// (SDDMM) in float64, keeps the sum and the sum of absolute values, and compares
// what stands in the result with what should.  Slow and plain: it shares no code
// with the kernels that it checks.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "backend/tool/bench/gpu.h"
#include "backend/tool/bench/tolerance.h"

namespace
{

__device__ double widen(__half x)
{
  return __half2float(x);
}
__device__ double widen(__nv_bfloat16 x)
{
  return __bfloat162float(x);
}
__device__ double widen(float x)
{
  return x;
}
__device__ double widen(double x)
{
  return x;
}
__device__ double widen(int8_t x)
{
  return x;
}

// A complex number, whose parts are checked one by one, each against the sum of the absolute
// values of what was added to it.
struct pair {
  double re, im;
};
__device__ pair widen(float2 x)
{
  return {x.x, x.y};
}
__device__ pair widen(double2 x)
{
  return {x.x, x.y};
}
__device__ double times(double a, double b)
{
  return a * b;
}
__device__ pair times(pair a, pair b)
{
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
__device__ void add(double &sum, double &scale, double a, double b)
{
  sum += a * b;
  scale += fabs(a * b);
}
__device__ void add(pair &sum, pair &scale, pair a, pair b)
{
  const pair x = times(a, b);
  sum.re += x.re;
  sum.im += x.im;
  scale.re += fabs(a.re * b.re) + fabs(a.im * b.im);
  scale.im += fabs(a.re * b.im) + fabs(a.im * b.re);
}

// Once per entry, so the branch does not matter.
__device__ double load(const void *from, int64_t i, shunt_type type)
{
  switch (type) {
  case SHUNT_F16: return widen(((const __half *)from)[i]);
  case SHUNT_BF16: return widen(((const __nv_bfloat16 *)from)[i]);
  case SHUNT_F32: return ((const float *)from)[i];
  case SHUNT_F64: return ((const double *)from)[i];
  case SHUNT_I8: return ((const int8_t *)from)[i];
  case SHUNT_I32: return ((const int32_t *)from)[i];
  default: return (double)((const int64_t *)from)[i];
  }
}

// The number that stands there, as a double or as a pair.
__device__ void load(double &to, const void *from, int64_t i, shunt_type type)
{
  to = load(from, i, type);
}
__device__ void load(pair &to, const void *from, int64_t i, shunt_type type)
{
  const shunt_type part = type == SHUNT_C32 ? SHUNT_F32 : SHUNT_F64;
  to = {load(from, 2 * i, part), load(from, 2 * i + 1, part)};
}
__device__ void value_of(double &to, const shunt_scalar &s)
{
  to = s.host;
}
__device__ void value_of(pair &to, const shunt_scalar &s)
{
  to = {s.host, s.imaginary};
}

// Bits of doubles >= 0 order as the doubles do.
__device__ void raise(unsigned long long *to, double x)
{
  unsigned long long bits = (unsigned long long)__double_as_longlong(x);
  if (bits > *(volatile unsigned long long *)to) atomicMax(to, bits);
}

__device__ void compare(unsigned long long *error, double got, double want, double tolerance)
{
  double ratio = bench_error_ratio(got, want, tolerance);
  if (ratio == 0) return;
  double distance = fabs(got - want);
  raise(error, distance <= 1e300 ? distance : HUGE_VAL);
  raise(error + 1, ratio);
}

// What a result and its tolerance are made from.
template <class W> struct expected {
  W sum, scale; // of products, of their absolute values
  double terms, operands;
  shunt_type type, compute;
};

__device__ void compare(unsigned long long *error, const expected<double> &e, double alpha,
                        double old, double got)
{
  const double want = alpha * e.sum + old;
  compare(error, got, want,
          bench_tolerance(e.type, e.compute, e.operands, fabs(alpha) * e.scale + fabs(old), want,
                          e.terms));
}

__device__ void compare(unsigned long long *error, const expected<pair> &e, pair alpha, pair old,
                        pair got)
{
  const pair want = times(alpha, e.sum);
  const double size =
      (fabs(alpha.re) + fabs(alpha.im)) * (e.scale.re + e.scale.im) + fabs(old.re) + fabs(old.im);
  const double re = want.re + old.re, im = want.im + old.im;
  compare(error, got.re, re, bench_tolerance(e.type, e.compute, e.operands, size, re, e.terms));
  compare(error, got.im, im, bench_tolerance(e.type, e.compute, e.operands, size, im, e.terms));
}

// The result at `place` against alpha e.sum + beta before.
template <class W>
__device__ void check_result(unsigned long long *error, const expected<W> &e, shunt_scalar by,
                             shunt_scalar beta, const void *before, const void *after,
                             int64_t place)
{
  W alpha, b, old = {}, got;
  value_of(alpha, by);
  value_of(b, beta);
  load(got, after, place, e.type);
  if (beta.host != 0 || beta.imaginary != 0) load(old, before, place, e.type);
  compare(error, e, alpha, times(b, old), got);
}

template <class T, class I>
__global__ void check_spmm(shunt_spmm p, double operands, const void *before,
                           unsigned long long *error)
{
  const I *offsets = (const I *)p.a.row_offsets, *columns = (const I *)p.a.columns;
  const T *values = (const T *)p.a.values, *b = (const T *)p.b.values;
  int64_t entries = p.c.rows * p.c.cols, threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < entries; n += threads) {
    int64_t i = n / p.c.cols, j = n % p.c.cols;
    int64_t begin = offsets[i] - p.a.base, end = offsets[i + 1] - p.a.base;
    expected<decltype(widen(T()))> e = {{},       {},       (double)(end - begin),
                                        operands, p.c.type, p.compute};
    for (int64_t at = begin; at < end; at++) {
      int64_t k = columns[at] - p.a.base;
      add(e.sum, e.scale, widen(values[at]), widen(b[k * p.b.row_stride + j * p.b.col_stride]));
    }
    check_result(error, e, p.alpha, p.beta, before, p.c.values,
                 i * p.c.row_stride + j * p.c.col_stride);
  }
}

// The row that holds position `at`: the last one that begins at or before it.
template <class I> __device__ int64_t row_of(const I *offsets, int64_t rows, int base, int64_t at)
{
  int64_t low = 0, high = rows; // offsets[low] <= at < offsets[high]
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (offsets[middle] - base <= at)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <class T, class I>
__global__ void check_sddmm(shunt_sddmm p, double operands, const void *before,
                            unsigned long long *error)
{
  const I *offsets = (const I *)p.c.row_offsets, *columns = (const I *)p.c.columns;
  const T *a = (const T *)p.a.values, *b = (const T *)p.b.values;
  int64_t threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < p.c.nnz; e += threads) {
    int64_t i = row_of(offsets, p.c.rows, p.c.base, e), j = columns[e] - p.c.base;
    expected<decltype(widen(T()))> x = {{},       {}, (double)p.a.cols, operands, p.c.value_type,
                                        p.compute};
    for (int64_t k = 0; k < p.a.cols; k++)
      add(x.sum, x.scale, widen(a[i * p.a.row_stride + k * p.a.col_stride]),
          widen(b[k * p.b.row_stride + j * p.b.col_stride]));
    check_result(error, x, p.alpha, p.beta, before, p.c.values, e);
  }
}

template <class T, class I>
void launch(const shunt_problem *p, double operands, const void *before, unsigned long long *error,
            cudaStream_t stream)
{
  int64_t entries = p->op == SHUNT_SPMM ? p->spmm.c.rows * p->spmm.c.cols : p->sddmm.c.nnz;
  int64_t blocks = (entries + 255) / 256;
  unsigned grid = (unsigned)(blocks < 65536 ? blocks : 65536);
  if (p->op == SHUNT_SPMM)
    check_spmm<T, I><<<grid, 256, 0, stream>>>(p->spmm, operands, before, error);
  else
    check_sddmm<T, I><<<grid, 256, 0, stream>>>(p->sddmm, operands, before, error);
}

template <class T>
void launch_index(const shunt_problem *p, double operands, const void *before,
                  unsigned long long *error, cudaStream_t stream)
{
  if (shunt_problem_sparse(p)->index_type == SHUNT_I64)
    launch<T, int64_t>(p, operands, before, error, stream);
  else
    launch<T, int32_t>(p, operands, before, error, stream);
}

} // namespace

extern "C" shunt_status bench_reference_cuda(const struct shunt_problem *p, double operands,
                                             const void *before, unsigned long long *error,
                                             cudaStream_t stream)
{
  shunt_type type = p->op == SHUNT_SPMM ? p->spmm.b.type : p->sddmm.a.type;
  switch (type) {
  case SHUNT_F16: launch_index<__half>(p, operands, before, error, stream); break;
  case SHUNT_BF16: launch_index<__nv_bfloat16>(p, operands, before, error, stream); break;
  case SHUNT_F32: launch_index<float>(p, operands, before, error, stream); break;
  case SHUNT_F64: launch_index<double>(p, operands, before, error, stream); break;
  case SHUNT_I8: launch_index<int8_t>(p, operands, before, error, stream); break;
  case SHUNT_C32: launch_index<float2>(p, operands, before, error, stream); break;
  case SHUNT_C64: launch_index<double2>(p, operands, before, error, stream); break;
  default: return SHUNT_E_UNSUPPORTED;
  }
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
