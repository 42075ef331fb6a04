// blackbox.cuh: sparse and dense operands made and checked on the device, for
// the programs that test cuSPARSE calls from outside (stale, determinism,
// faults).  Plain cuSPARSE and CUDA: nothing of Shunt is included.
//
//   SpMM:   c = alpha a b + beta c           a: rows x cols CSR, b: cols x n, c: rows x n
//   SDDMM:  a.values = alpha (c b) at a's pattern + beta a.values
//                                            c: rows x n, b: n x cols
//
// References are sums in float64, one thread an output, straight from the
// caller's arrays at that point of the stream.  They are complex; of real types all
// imaginary parts are 0.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/clients/common.h"

namespace blackbox
{

struct Csr {
  void *offsets, *columns, *values;
  int64_t rows, cols, nnz;
  int wide; // 64-bit indices
  int base;
  cudaDataType type;
};

// Element (i, j) is values[i * ld + j], or values[j * ld + i] in column order.
struct Dense {
  void *values;
  int64_t rows, cols, ld;
  int column_order;
  cudaDataType type;
  __host__ __device__ int64_t at(int64_t i, int64_t j) const
  {
    return column_order ? j * ld + i : i * ld + j;
  }
  int64_t stored() const { return ld * (column_order ? cols : rows); }
};

struct Problem {
  int sddmm;
  Csr a;
  Dense b, c;
  cudaDataType compute;
  int device_scalars;
  double alpha, beta;                     // when on the host
  void *scalars;                          // device: alpha, beta in the compute type
  const void *before;                     // device: bytes of the output before the call
  double alpha_imaginary, beta_imaginary; // of complex types; 0 where the real part is
};

// What one check found; `claimed` guards the first finding.
struct Outcome {
  unsigned claimed, strict, loose, outside;
  int64_t i, j;
  double got, want, limit;
};

// ---- numbers -----------------------------------------------------------------
__device__ inline uint64_t mix(uint64_t z)
{
  return splitmix64(&z);
}

struct Number {
  double re, im;
};
__device__ inline Number operator+(Number x, Number y)
{
  return {x.re + y.re, x.im + y.im};
}
__device__ inline Number operator*(Number x, Number y)
{
  if (x.im == 0 && y.im == 0) return {x.re * y.re, 0}; // 0 x Inf is none of a real product's terms
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
__device__ inline double absolute(Number x)
{
  return x.im == 0 ? fabs(x.re) : hypot(x.re, x.im);
}
__device__ inline bool is_finite(Number x)
{
  return isfinite(x.re) && isfinite(x.im);
}

__host__ __device__ inline bool is_complex(cudaDataType t)
{
  return t == CUDA_C_32F || t == CUDA_C_64F;
}

__device__ inline Number get(const void *p, int64_t i, cudaDataType t)
{
  switch (t) {
  case CUDA_R_16F: return {__half2float(((const __half *)p)[i]), 0};
  case CUDA_R_16BF: return {__bfloat162float(((const __nv_bfloat16 *)p)[i]), 0};
  case CUDA_R_64F: return {((const double *)p)[i], 0};
  case CUDA_R_8I: return {(double)((const int8_t *)p)[i], 0};
  case CUDA_R_32I: return {(double)((const int32_t *)p)[i], 0};
  case CUDA_C_32F: return {((const float *)p)[2 * i], ((const float *)p)[2 * i + 1]};
  case CUDA_C_64F: return {((const double *)p)[2 * i], ((const double *)p)[2 * i + 1]};
  default: return {((const float *)p)[i], 0};
  }
}

// `imaginary` is for complex types only.
__device__ inline void put(void *p, int64_t i, cudaDataType t, double v, double imaginary = 0)
{
  switch (t) {
  case CUDA_R_16F: ((__half *)p)[i] = __float2half_rn((float)v); break;
  case CUDA_R_16BF: ((__nv_bfloat16 *)p)[i] = __float2bfloat16_rn((float)v); break;
  case CUDA_R_64F: ((double *)p)[i] = v; break;
  case CUDA_R_8I: ((int8_t *)p)[i] = (int8_t)(v * 16); break;
  case CUDA_R_32I: ((int32_t *)p)[i] = (int32_t)(v * 16); break;
  case CUDA_C_32F: ((float2 *)p)[i] = make_float2((float)v, (float)imaginary); break;
  case CUDA_C_64F: ((double2 *)p)[i] = make_double2(v, imaginary); break;
  default: ((float *)p)[i] = (float)v; break;
  }
}

__device__ inline int64_t index_at(const void *p, int64_t i, int wide)
{
  return wide ? ((const int64_t *)p)[i] : ((const int32_t *)p)[i];
}

__device__ inline void index_put(void *p, int64_t i, int wide, int64_t v)
{
  if (wide)
    ((int64_t *)p)[i] = v;
  else
    ((int32_t *)p)[i] = (int32_t)v;
}

// ---- content -----------------------------------------------------------------
enum { FILL_RANDOM = 0, FILL_SOME_ZERO = 1 };

__global__ void fill_kernel(void *p, int64_t n, cudaDataType t, uint64_t seed, int kind)
{
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
       i += (int64_t)gridDim.x * blockDim.x) {
    uint64_t h = mix(seed * 0x2545f4914f6cdd1dull + (uint64_t)i);
    double v = (double)(h >> 11) * 0x1p-52 - 1, imaginary = (double)(mix(h) >> 11) * 0x1p-52 - 1;
    if (kind == FILL_SOME_ZERO && (h & 3) == 0) v = imaginary = 0;
    put(p, i, t, v, imaginary);
  }
}

__global__ void put_kernel(void *p, int64_t i, cudaDataType t, double v, double imaginary)
{
  put(p, i, t, v, imaginary);
}

enum { PATTERN_PLAIN = 0, PATTERN_REVERSED = 1, PATTERN_REPEATED = 2 };

// Entry q of a row of `length` entries stands somewhere in stratum
// [q cols / length, (q + 1) cols / length): ascending, distinct, random.
__device__ inline int64_t pick_column(int64_t q, int64_t length, int64_t cols, uint64_t h)
{
  int64_t lo = q * cols / length, hi = (q + 1) * cols / length;
  int64_t span = hi > lo ? hi - lo : 1;
  int64_t c = lo + (int64_t)(h % (uint64_t)span);
  return c < cols ? c : cols - 1;
}

// The set of rows that row i shares its columns with: `group` neighbours; or, negative, that many
// which stand as far apart as they can.
__host__ __device__ inline int64_t set_of_row(int64_t i, int group, int64_t rows)
{
  return group > 0 ? i / group : i % ((rows - group - 1) / -group);
}

// One block a row; rows of one set draw the same numbers.
__global__ void columns_kernel(Csr a, int group, uint64_t seed, int kind)
{
  int64_t i = blockIdx.x;
  int64_t begin = index_at(a.offsets, i, a.wide) - a.base;
  int64_t length = index_at(a.offsets, i + 1, a.wide) - a.base - begin;
  for (int64_t q = threadIdx.x; q < length; q += blockDim.x) {
    int64_t w = kind == PATTERN_REPEATED ? q & ~(int64_t)1 : q;
    uint64_t h =
        mix(seed ^ mix((uint64_t)set_of_row(i, group, a.rows) * 1315423911u + (uint64_t)w));
    int64_t at = kind == PATTERN_REVERSED ? length - 1 - q : q;
    index_put(a.columns, begin + at, a.wide, pick_column(w, length, a.cols, h) + a.base);
  }
}

// One entry goes to another place of its stratum.
__global__ void move_entry_kernel(Csr a, int64_t row, int64_t q, uint64_t salt)
{
  int64_t begin = index_at(a.offsets, row, a.wide) - a.base;
  int64_t length = index_at(a.offsets, row + 1, a.wide) - a.base - begin;
  if (q < length)
    index_put(a.columns, begin + q, a.wide, pick_column(q, length, a.cols, mix(salt)) + a.base);
}

// ---- checks ------------------------------------------------------------------
// Is got within `limit` of want?  A real result that is not finite has to be the same one.  Which
// part of a complex product becomes NaN, and which Inf, depends on the order of its four terms: one
// that is not finite has to be one that is not.
__device__ inline bool is_close(Number got, Number want, double limit, bool complex)
{
  if (is_finite(want)) return fabs(got.re - want.re) <= limit && fabs(got.im - want.im) <= limit;
  if (complex) return !is_finite(got);
  return isnan(want.re) ? isnan(got.re) : got.re == want.re;
}

// The first finding is told by real parts.
__device__ inline void compare(Outcome *o, int64_t i, int64_t j, Number got, Number want,
                               double strict, double loose, cudaDataType t)
{
  if (is_close(got, want, strict, is_complex(t))) return;
  atomicAdd(&o->strict, 1u);
  if (!is_close(got, want, loose, is_complex(t))) atomicAdd(&o->loose, 1u);
  if (atomicCAS(&o->claimed, 0u, 1u) == 0u) {
    o->i = i;
    o->j = j;
    o->got = got.re;
    o->want = want.re;
    o->limit = strict;
  }
}

// One rounding to t of a sum accumulated in the compute type; see type_tolerance.  scale: the sum of
// the terms' absolute values, which bounds both parts of a complex sum; each has twice the terms.
__device__ inline void limits(cudaDataType t, cudaDataType compute, double scale, Number want,
                              double terms, double *strict, double *loose)
{
  double acc = compute == CUDA_R_64F || compute == CUDA_C_64F ? 0x1p-53
               : compute == CUDA_R_32I                        ? 0
                                                              : 0x1p-24;
  double out = t == CUDA_R_16F                      ? 0x1p-11
               : t == CUDA_R_16BF                   ? 0x1p-8
               : t == CUDA_R_32F || t == CUDA_C_32F ? 0x1p-24
               : t == CUDA_R_64F || t == CUDA_C_64F ? 0x1p-53
                                                    : 0;
  double tiny = t == CUDA_R_16F ? 0x1p-25 : 0;
  if (is_complex(t)) terms *= 2;
  *strict = out * absolute(want) * 1.01 + tiny + acc * scale * (4 + 2 * sqrt(terms));
  // What cuSPARSE itself shows where it rounds partial sums to the type of C.
  *loose = *strict + 16 * out * scale;
}

__device__ inline bool same_bytes(const void *a, const void *b, int64_t i, int size)
{
  for (int k = 0; k < size; k++)
    if (((const char *)a)[i * size + k] != ((const char *)b)[i * size + k]) return false;
  return true;
}

__device__ inline void read_scalars(const Problem &p, Number *alpha, Number *beta)
{
  *alpha = p.device_scalars ? get(p.scalars, 0, p.compute) : Number{p.alpha, p.alpha_imaginary};
  *beta = p.device_scalars ? get(p.scalars, 1, p.compute) : Number{p.beta, p.beta_imaginary};
}

// Element t of the output, (i, j), is alpha sum + beta (its old content); scale: the sum of
// `terms` absolute values.
__device__ inline void check_element(const Problem &p, int64_t t, int64_t i, int64_t j, Number sum,
                                     double scale, double terms, Outcome *o)
{
  const void *values = p.sddmm ? p.a.values : p.c.values;
  const cudaDataType type = p.sddmm ? p.a.type : p.c.type;
  Number alpha, beta;
  double strict, loose;
  read_scalars(p, &alpha, &beta);
  const Number old = absolute(beta) == 0 ? Number{0, 0} : beta * get(p.before, t, type);
  const Number want = alpha * sum + old;
  limits(type, p.compute, absolute(alpha) * scale + absolute(old), want, terms + 1, &strict,
         &loose);
  compare(o, i, j, get(values, t, type), want, strict, loose, type);
}

// Whether the t-th stored element of c is one of its own, (i, j); padding must not have changed.
__device__ inline bool is_inside(const Problem &p, int64_t t, int size, int64_t *i, int64_t *j,
                                 Outcome *o)
{
  int64_t major = t / p.c.ld, minor = t % p.c.ld;
  *i = p.c.column_order ? minor : major;
  *j = p.c.column_order ? major : minor;
  if (*i < p.c.rows && *j < p.c.cols) return true;
  if (!same_bytes(p.c.values, p.before, t, size)) atomicAdd(&o->outside, 1u);
  return false;
}

// One thread per stored element of c, padding included.
__global__ void check_spmm_kernel(Problem p, int size, Outcome *o)
{
  int64_t stored = p.c.ld * (p.c.column_order ? p.c.cols : p.c.rows);
  for (int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; t < stored;
       t += (int64_t)gridDim.x * blockDim.x) {
    int64_t i, j;
    if (!is_inside(p, t, size, &i, &j, o)) continue;
    int64_t q = index_at(p.a.offsets, i, p.a.wide) - p.a.base;
    int64_t end = index_at(p.a.offsets, i + 1, p.a.wide) - p.a.base;
    Number sum = {0, 0};
    double scale = 0, terms = (double)(end - q);
    for (; q < end; q++) {
      int64_t l = index_at(p.a.columns, q, p.a.wide) - p.a.base;
      Number v = get(p.a.values, q, p.a.type) * get(p.b.values, p.b.at(l, j), p.b.type);
      sum = sum + v;
      scale += absolute(v);
    }
    check_element(p, t, i, j, sum, scale, terms, o);
  }
}

// One thread per entry of a.
__global__ void check_sddmm_kernel(Problem p, Outcome *o)
{
  for (int64_t q = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; q < p.a.nnz;
       q += (int64_t)gridDim.x * blockDim.x) {
    int64_t lo = 0, hi = p.a.rows; // the row i with offsets[i] <= q < offsets[i + 1]
    while (hi - lo > 1) {
      int64_t mid = (lo + hi) / 2;
      if (index_at(p.a.offsets, mid, p.a.wide) - p.a.base <= q)
        lo = mid;
      else
        hi = mid;
    }
    int64_t j = index_at(p.a.columns, q, p.a.wide) - p.a.base;
    Number sum = {0, 0};
    double scale = 0;
    for (int64_t l = 0; l < p.c.cols; l++) {
      Number v = get(p.c.values, p.c.at(lo, l), p.c.type) * get(p.b.values, p.b.at(l, j), p.b.type);
      sum = sum + v;
      scale += absolute(v);
    }
    check_element(p, q, lo, j, sum, scale, (double)p.c.cols, o);
  }
}

// Bytes behind the workspace that was asked for must not change.
__global__ void check_bytes_kernel(const unsigned char *p, int n, unsigned char want, Outcome *o)
{
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    if (p[i] != want) atomicAdd(&o->outside, 1u);
}

__global__ void compare_kernel(const void *a, const void *b, int64_t bytes, unsigned *differ)
{
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < bytes;
       i += (int64_t)gridDim.x * blockDim.x)
    if (((const char *)a)[i] != ((const char *)b)[i]) atomicAdd(differ, 1u);
}

// ---- host side ---------------------------------------------------------------
inline unsigned blocks_for(int64_t n)
{
  int64_t b = (n + 255) / 256;
  return (unsigned)(b < 1 ? 1 : b > 4096 ? 4096 : b);
}

inline void fill(void *p, int64_t n, cudaDataType t, uint64_t seed, int kind, cudaStream_t s)
{
  if (n <= 0) return;
  fill_kernel<<<blocks_for(n), 256, 0, s>>>(p, n, t, seed, kind);
  CUDA_OK(cudaGetLastError());
}

inline void fill_columns(const Csr &a, int group, uint64_t seed, int kind, cudaStream_t s)
{
  if (a.rows <= 0) return;
  columns_kernel<<<(unsigned)a.rows, 128, 0, s>>>(a, group, seed, kind);
  CUDA_OK(cudaGetLastError());
}

inline void *output(const Problem &p)
{
  return p.sddmm ? p.a.values : p.c.values;
}

inline size_t output_bytes(const Problem &p)
{
  return p.sddmm ? (size_t)p.a.nnz * type_size(p.a.type)
                 : (size_t)p.c.stored() * type_size(p.c.type);
}

// Enqueues the comparison with float64; *o was zeroed by the caller.
inline void check_result(const Problem &p, Outcome *o, cudaStream_t s)
{
  if (p.sddmm && p.a.nnz > 0)
    check_sddmm_kernel<<<blocks_for(p.a.nnz), 256, 0, s>>>(p, o);
  else if (!p.sddmm && p.c.stored() > 0)
    check_spmm_kernel<<<blocks_for(p.c.stored()), 256, 0, s>>>(p, (int)type_size(p.c.type), o);
  CUDA_OK(cudaGetLastError());
}

} // namespace blackbox
