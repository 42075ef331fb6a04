/* host_element.h: one index, element or scalar of a stored type, for code that is to be right
   rather than fast.  A double holds every f16, bf16 and f32 exactly, so a twin that sums in float
   casts what it loads and loses nothing; storing rounds once to the nearest (to f16 and bf16 by way
   of float, where sums of theirs are kept).  */
#ifndef SHUNT_HOST_ELEMENT_H
#define SHUNT_HOST_ELEMENT_H

#include "kernels/common/host_half.h"
#include "kernels/common/types.h"

static inline int64_t shunt_index_at(const void *array, int64_t i, shunt_type t)
{
  return t == SHUNT_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static inline double shunt_load(const void *from, int64_t i, shunt_type t)
{
  switch (t) {
  case SHUNT_F16: return (double)shunt_half_to_float(((const uint16_t *)from)[i]);
  case SHUNT_BF16: return (double)shunt_bfloat_to_float(((const uint16_t *)from)[i]);
  case SHUNT_F32: return (double)((const float *)from)[i];
  case SHUNT_I8: return ((const int8_t *)from)[i];
  case SHUNT_I32: return ((const int32_t *)from)[i];
  default: return ((const double *)from)[i];
  }
}

static inline void shunt_store(void *to, int64_t i, shunt_type t, double x)
{
  switch (t) {
  case SHUNT_F16: ((uint16_t *)to)[i] = shunt_float_to_half((float)x); break;
  case SHUNT_BF16: ((uint16_t *)to)[i] = shunt_float_to_bfloat((float)x); break;
  case SHUNT_F32: ((float *)to)[i] = (float)x; break;
  case SHUNT_I32: ((int32_t *)to)[i] = (int32_t)x; break;
  default: ((double *)to)[i] = x; break;
  }
}

/* alpha sum + beta old, modulo 2^32.  All are integers that a double holds. */
static inline double shunt_wrapped(double alpha, double sum, double beta, double old)
{
  return (int32_t)((uint32_t)(int64_t)alpha * (uint32_t)(int64_t)sum +
                   (uint32_t)(int64_t)beta * (uint32_t)(int64_t)old);
}

/* alpha or beta; `device` is host memory here. */
static inline double shunt_scalar_value(const struct shunt_scalar *s, shunt_type compute)
{
  return s->device ? shunt_load(s->device, 0, compute) : s->host;
}

/* ---- complex numbers: two halves of an element of SHUNT_C32 or SHUNT_C64 ---- */

typedef struct {
  long double re, im;
} shunt_pair;

static inline shunt_pair shunt_load_pair(const void *from, int64_t i, shunt_type t)
{
  const shunt_type half = t == SHUNT_C32 ? SHUNT_F32 : SHUNT_F64;
  return (shunt_pair){shunt_load(from, 2 * i, half), shunt_load(from, 2 * i + 1, half)};
}

static inline void shunt_store_pair(void *to, int64_t i, shunt_type t, shunt_pair x)
{
  const shunt_type half = t == SHUNT_C32 ? SHUNT_F32 : SHUNT_F64;
  shunt_store(to, 2 * i, half, (double)x.re);
  shunt_store(to, 2 * i + 1, half, (double)x.im);
}

static inline shunt_pair shunt_scalar_pair(const struct shunt_scalar *s, shunt_type compute)
{
  if (s->device) return shunt_load_pair(s->device, 0, compute);
  return (shunt_pair){s->host, s->imaginary};
}

static inline shunt_pair shunt_pair_add(shunt_pair a, shunt_pair b)
{
  return (shunt_pair){a.re + b.re, a.im + b.im};
}

static inline shunt_pair shunt_pair_multiply(shunt_pair a, shunt_pair b)
{
  return (shunt_pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* alpha sum + beta old[at]; `old` is not read when beta is 0, and alpha = 0 leaves nothing of the
   sum. */
static inline shunt_pair shunt_pair_finish(shunt_pair sum, shunt_pair alpha, shunt_pair beta,
                                           const void *old, int64_t at, shunt_type t)
{
  shunt_pair x = {0, 0};
  if (alpha.re != 0 || alpha.im != 0) x = shunt_pair_multiply(alpha, sum);
  if (beta.re == 0 && beta.im == 0) return x;
  return shunt_pair_add(x, shunt_pair_multiply(beta, shunt_load_pair(old, at, t)));
}

#endif
