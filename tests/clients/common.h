/* common.h: what the black-box programs share: report lines, checked calls,
   random numbers and half-precision conversion.  Plain C11, also C++17; knows
   cuSPARSE and the CUDA runtime, nothing of Shunt.

   A program prints "ok - text" / "not ok - text" / "skip - text" per check and ends
   with "N passed, N failed, N skipped"; its exit status is 0 when nothing failed.  */
#ifndef CLIENTS_COMMON_H
#define CLIENTS_COMMON_H

#define DISABLE_CUSPARSE_DEPRECATED
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../splitmix64.h"
#include "../unit/check.h"

#define skip(...) check_skip(__VA_ARGS__)

static inline int finish(void)
{
  return check_finish();
}

/* For set-up that no test is about: says where it failed and leaves. */
#define CUDA_OK(call)                                                                              \
  do {                                                                                             \
    cudaError_t e_ = (call);                                                                       \
    if (e_ != cudaSuccess) {                                                                       \
      printf("not ok - %s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));        \
      check_failed++;                                                                              \
      finish();                                                                                    \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

#define SPARSE_OK(call)                                                                            \
  do {                                                                                             \
    cusparseStatus_t s_ = (call);                                                                  \
    if (s_ != CUSPARSE_STATUS_SUCCESS) {                                                           \
      printf("not ok - %s:%d %s: status %d\n", __FILE__, __LINE__, #call, (int)s_);                \
      check_failed++;                                                                              \
      finish();                                                                                    \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

static inline uint64_t random_next(uint64_t *state)
{
  return splitmix64(state);
}

static inline double random_uniform(uint64_t *state) /* [0, 1) */
{
  return (double)(random_next(state) >> 11) * (1.0 / 9007199254740992.0);
}

static inline int64_t random_below(uint64_t *state, int64_t n)
{
  return (int64_t)(random_next(state) % (uint64_t)n);
}

/* IEEE binary16 and bfloat16, round to nearest even, without cuda_fp16.h so
   that C programs can use them. */
static inline uint32_t float_bits(float f)
{
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

static inline float bits_float(uint32_t u)
{
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static inline uint16_t half_from_float(float f)
{
  uint32_t u = float_bits(f), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
  if (a > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  if (a >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* 65520 and above: Inf */
  if (a < 0x38800000u) {                                   /* subnormal: units of 2^-24 */
    float scaled = bits_float(a) * 16777216.0f;
    return (uint16_t)(sign | (uint32_t)lrintf(scaled));
  }
  a += 0xfffu + ((a >> 13) & 1u);
  return (uint16_t)(sign | ((a - 0x38000000u) >> 13));
}

static inline float half_to_float(uint16_t h)
{
  uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 0x3ffu;
  if (e == 31) return bits_float(sign | 0x7f800000u | (m << 13));
  if (e == 0) {
    float f = (float)m / 16777216.0f;
    return sign ? -f : f;
  }
  return bits_float(sign | ((e + 112u) << 23) | (m << 13));
}

static inline uint16_t bfloat_from_float(float f)
{
  uint32_t u = float_bits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((u >> 16) | 0x40u);
  return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

static inline float bfloat_to_float(uint16_t b)
{
  return bits_float((uint32_t)b << 16);
}

/* A copy in device memory, which the caller frees. */
static inline void *to_device(const void *from, size_t bytes)
{
  void *p;
  CUDA_OK(cudaMalloc(&p, bytes ? bytes : 1));
  CUDA_OK(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice));
  return p;
}

static inline size_t type_size(cudaDataType t)
{
  switch (t) {
  case CUDA_R_8I: return 1;
  case CUDA_R_16F:
  case CUDA_R_16BF: return 2;
  case CUDA_R_64F:
  case CUDA_C_32F: return 8;
  case CUDA_C_64F: return 16;
  default: return 4;
  }
}

static inline const char *type_text(cudaDataType t)
{
  switch (t) {
  case CUDA_R_8I: return "i8";
  case CUDA_R_32I: return "i32";
  case CUDA_R_16F: return "f16";
  case CUDA_R_16BF: return "bf16";
  case CUDA_R_32F: return "f32";
  case CUDA_R_64F: return "f64";
  case CUDA_C_32F: return "c32";
  case CUDA_C_64F: return "c64";
  default: return "?";
  }
}

/* Element i of a host array; complex types count their real and imaginary
   parts as elements of their own. */
static inline void type_store(void *to, int64_t i, cudaDataType t, double v)
{
  switch (t) {
  case CUDA_R_8I: ((int8_t *)to)[i] = (int8_t)v; break;
  case CUDA_R_32I: ((int32_t *)to)[i] = (int32_t)v; break;
  case CUDA_R_16F: ((uint16_t *)to)[i] = half_from_float((float)v); break;
  case CUDA_R_16BF: ((uint16_t *)to)[i] = bfloat_from_float((float)v); break;
  case CUDA_R_64F:
  case CUDA_C_64F: ((double *)to)[i] = v; break;
  default: ((float *)to)[i] = (float)v; break;
  }
}

static inline double type_load(const void *from, int64_t i, cudaDataType t)
{
  switch (t) {
  case CUDA_R_8I: return ((const int8_t *)from)[i];
  case CUDA_R_32I: return ((const int32_t *)from)[i];
  case CUDA_R_16F: return half_to_float(((const uint16_t *)from)[i]);
  case CUDA_R_16BF: return bfloat_to_float(((const uint16_t *)from)[i]);
  case CUDA_R_64F:
  case CUDA_C_64F: return ((const double *)from)[i];
  default: return ((const float *)from)[i];
  }
}

/* The error that a sum of `terms` products, accumulated in float32 (float64,
   int32) in any order and rounded once to type t, may show beside the exact
   `result`; `scale` is the sum of the products' absolute values. */
static inline double type_tolerance(cudaDataType t, cudaDataType compute, double scale,
                                    double result, double terms)
{
  double acc = compute == CUDA_R_64F || compute == CUDA_C_64F ? 0x1p-53
               : compute == CUDA_R_32I                        ? 0
                                                              : 0x1p-24;
  double out = t == CUDA_R_16F    ? 0x1p-11
               : t == CUDA_R_16BF ? 0x1p-8
               : t == CUDA_R_32F  ? 0x1p-24
               : t == CUDA_R_64F  ? 0x1p-53
                                  : 0;
  double tiny = t == CUDA_R_16F ? 0x1p-25 : 0;
  return out * fabs(result) * 1.01 + tiny + acc * scale * (4 + 2 * sqrt(terms));
}

/* cuSPARSE rounds partial sums of f16 and bf16 on the way: what that may add to
   the error, per unit of `scale`. */
static inline double type_rough(cudaDataType t)
{
  return t == CUDA_R_16F ? 0x1p-7 : t == CUDA_R_16BF ? 0x1p-4 : 0;
}

#endif
