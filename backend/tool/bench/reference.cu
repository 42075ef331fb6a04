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

template <class T, class I>
__global__ void check_spmm(shunt_spmm p, double operands, const void *before,
                           unsigned long long *error)
{
  const I *offsets = (const I *)p.a.row_offsets, *columns = (const I *)p.a.columns;
  const T *values = (const T *)p.a.values, *b = (const T *)p.b.values;
  int64_t entries = p.c.rows * p.c.cols, threads = (int64_t)gridDim.x * blockDim.x;
  for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < entries; e += threads) {
    int64_t i = e / p.c.cols, j = e % p.c.cols;
    int64_t begin = offsets[i] - p.a.base, end = offsets[i + 1] - p.a.base;
    double sum = 0, scale = 0;
    for (int64_t at = begin; at < end; at++) {
      int64_t k = columns[at] - p.a.base;
      double product = widen(values[at]) * widen(b[k * p.b.row_stride + j * p.b.col_stride]);
      sum += product;
      scale += fabs(product);
    }
    int64_t place = i * p.c.row_stride + j * p.c.col_stride;
    double old = p.beta.host != 0 ? p.beta.host * load(before, place, p.c.type) : 0;
    double want = p.alpha.host * sum + old;
    compare(error, load(p.c.values, place, p.c.type), want,
            bench_tolerance(p.c.type, p.compute, operands, fabs(p.alpha.host) * scale + fabs(old),
                            want, (double)(end - begin)));
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
    double sum = 0, scale = 0;
    for (int64_t k = 0; k < p.a.cols; k++) {
      double product = widen(a[i * p.a.row_stride + k * p.a.col_stride]) *
                       widen(b[k * p.b.row_stride + j * p.b.col_stride]);
      sum += product;
      scale += fabs(product);
    }
    double old = p.beta.host != 0 ? p.beta.host * load(before, e, p.c.value_type) : 0;
    double want = p.alpha.host * sum + old;
    compare(error, load(p.c.values, e, p.c.value_type), want,
            bench_tolerance(p.c.value_type, p.compute, operands,
                            fabs(p.alpha.host) * scale + fabs(old), want, (double)p.a.cols));
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
  default: return SHUNT_E_UNSUPPORTED;
  }
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
