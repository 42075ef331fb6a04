// blackbox.cuh: sparse and dense operands made and checked on the device, for
// the programs that test cuSPARSE calls from outside (stale, determinism,
// faults).  Plain cuSPARSE and CUDA: nothing of Shunt is included.
//
//   SpMM:   c = alpha a b + beta c           a: rows x cols CSR, b: cols x n, c: rows x n
//   SDDMM:  a.values = alpha (c b) at a's pattern + beta a.values
//                                            c: rows x n, b: n x cols
//
// References are sums in float64, one thread an output, straight from the
// caller's arrays at that point of the stream.
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
  double alpha, beta; // when on the host
  void *scalars;      // device: alpha, beta in the compute type
  const void *before; // device: bytes of the output before the call
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

__device__ inline double get(const void *p, int64_t i, cudaDataType t)
{
  switch (t) {
  case CUDA_R_16F: return __half2float(((const __half *)p)[i]);
  case CUDA_R_16BF: return __bfloat162float(((const __nv_bfloat16 *)p)[i]);
  case CUDA_R_64F: return ((const double *)p)[i];
  case CUDA_R_8I: return ((const int8_t *)p)[i];
  case CUDA_R_32I: return ((const int32_t *)p)[i];
  default: return ((const float *)p)[i];
  }
}

__device__ inline void put(void *p, int64_t i, cudaDataType t, double v)
{
  switch (t) {
  case CUDA_R_16F: ((__half *)p)[i] = __float2half_rn((float)v); break;
  case CUDA_R_16BF: ((__nv_bfloat16 *)p)[i] = __float2bfloat16_rn((float)v); break;
  case CUDA_R_64F: ((double *)p)[i] = v; break;
  case CUDA_R_8I: ((int8_t *)p)[i] = (int8_t)(v * 16); break;
  case CUDA_R_32I: ((int32_t *)p)[i] = (int32_t)(v * 16); break;
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
    double v = (double)(h >> 11) * 0x1p-52 - 1;
    put(p, i, t, kind == FILL_SOME_ZERO && (h & 3) == 0 ? 0 : v);
  }
}

__global__ void put_kernel(void *p, int64_t i, cudaDataType t, double v)
{
  put(p, i, t, v);
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
__device__ inline void compare(Outcome *o, int64_t i, int64_t j, double got, double want,
                               double strict, double loose)
{
  bool bad_strict, bad_loose;
  if (isfinite(want)) {
    double error = fabs(got - want);
    bad_strict = !(error <= strict);
    bad_loose = !(error <= loose);
  } else {
    bad_strict = bad_loose = isnan(want) ? !isnan(got) : got != want;
  }
  if (!bad_strict) return;
  atomicAdd(&o->strict, 1u);
  if (bad_loose) atomicAdd(&o->loose, 1u);
  if (atomicCAS(&o->claimed, 0u, 1u) == 0u) {
    o->i = i;
    o->j = j;
    o->got = got;
    o->want = want;
    o->limit = strict;
  }
}

// One rounding to t of a sum accumulated in the compute type; see type_tolerance.
__device__ inline void limits(cudaDataType t, cudaDataType compute, double scale, double want,
                              double terms, double *strict, double *loose)
{
  double acc = compute == CUDA_R_64F ? 0x1p-53 : compute == CUDA_R_32I ? 0 : 0x1p-24;
  double out = t == CUDA_R_16F    ? 0x1p-11
               : t == CUDA_R_16BF ? 0x1p-8
               : t == CUDA_R_32F  ? 0x1p-24
               : t == CUDA_R_64F  ? 0x1p-53
                                  : 0;
  double tiny = t == CUDA_R_16F ? 0x1p-25 : 0;
  *strict = out * fabs(want) * 1.01 + tiny + acc * scale * (4 + 2 * sqrt(terms));
  // What cuSPARSE itself shows where it rounds partial sums to the type of C.
  *loose = *strict + 16 * out * scale;
}

__device__ inline bool same_bytes(const void *a, const void *b, int64_t i, int size)
{
  for (int k = 0; k < size; k++)
    if (((const char *)a)[i * size + k] != ((const char *)b)[i * size + k]) return false;
  return true;
}

__device__ inline void read_scalars(const Problem &p, double *alpha, double *beta)
{
  *alpha = p.device_scalars ? get(p.scalars, 0, p.compute) : p.alpha;
  *beta = p.device_scalars ? get(p.scalars, 1, p.compute) : p.beta;
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
  double alpha, beta;
  read_scalars(p, &alpha, &beta);
  for (int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; t < stored;
       t += (int64_t)gridDim.x * blockDim.x) {
    int64_t i, j;
    if (!is_inside(p, t, size, &i, &j, o)) continue;
    int64_t q = index_at(p.a.offsets, i, p.a.wide) - p.a.base;
    int64_t end = index_at(p.a.offsets, i + 1, p.a.wide) - p.a.base;
    double sum = 0, scale = 0, terms = (double)(end - q) + 1;
    for (; q < end; q++) {
      int64_t l = index_at(p.a.columns, q, p.a.wide) - p.a.base;
      double v = get(p.a.values, q, p.a.type) * get(p.b.values, p.b.at(l, j), p.b.type);
      sum += v;
      scale += fabs(v);
    }
    double old = beta == 0 ? 0 : beta * get(p.before, t, p.c.type);
    double want = alpha * sum + old, strict, loose;
    limits(p.c.type, p.compute, fabs(alpha) * scale + fabs(old), want, terms, &strict, &loose);
    compare(o, i, j, get(p.c.values, t, p.c.type), want, strict, loose);
  }
}

// One thread per entry of a.
__global__ void check_sddmm_kernel(Problem p, Outcome *o)
{
  double alpha, beta;
  read_scalars(p, &alpha, &beta);
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
    double sum = 0, scale = 0;
    for (int64_t l = 0; l < p.c.cols; l++) {
      double v = get(p.c.values, p.c.at(lo, l), p.c.type) * get(p.b.values, p.b.at(l, j), p.b.type);
      sum += v;
      scale += fabs(v);
    }
    double old = beta == 0 ? 0 : beta * get(p.before, q, p.a.type);
    double want = alpha * sum + old, strict, loose;
    limits(p.a.type, p.compute, fabs(alpha) * scale + fabs(old), want, (double)p.c.cols + 1,
           &strict, &loose);
    compare(o, lo, j, get(p.a.values, q, p.a.type), want, strict, loose);
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
