/* masked_saxpy_sums.c: terms added to sums by column (masked_saxpy.h). */
#include <math.h>

#include "kernels/semiring/masked/masked_saxpy.h"

#define LESS(x, y) ((x) < (y) ? (x) : (y))
#define MORE(x, y) ((x) > (y) ? (x) : (y))
#define ADD(x, y) (T)((W)(x) + (W)(y))
#define KEEP(x, y) (seen[j] ? (x) : (y)) /* of any the first */

#define ADD_OF(COMBINE, TERM)                                                                      \
  for (int64_t h = 0; h < n; h++) {                                                                \
    const T t = w[h * step_b], term = (T)(TERM);                                                   \
    const uint32_t j = k[h];                                                                       \
    to[j] = COMBINE(to[j], term);                                                                  \
    seen[j] = 1;                                                                                   \
    (void)t;                                                                                       \
  }                                                                                                \
  break
#define ADD_BY(COMBINE)                                                                            \
  switch (by->multiplier) {                                                                        \
  case SHUNT_TIMES: ADD_OF(COMBINE, (W)s *(W)t);                                                   \
  case SHUNT_FIRST: ADD_OF(COMBINE, s);                                                            \
  case SHUNT_SECOND: ADD_OF(COMBINE, t);                                                           \
  case SHUNT_PAIR: ADD_OF(COMBINE, 1);                                                             \
  default: ADD_OF(COMBINE, (W)s + (W)t);                                                           \
  }                                                                                                \
  break

/* WRAPPING: the type in which sums and products wrap.  NOTHING, LEAST, MOST: what no sum, no
   greatest and no least one is changed by; -0.0 keeps the sign of a sum of zeros. */
#define SUMS(NAME, TYPE, WRAPPING, LESSER, GREATER, NOTHING, LEAST, MOST)                          \
  static void add_##NAME(const struct shunt_semiring *by, const uint32_t *k, int64_t n,            \
                         const void *a, const void *b, int64_t step_b, void *sums, uint8_t *seen)  \
  {                                                                                                \
    typedef TYPE T;                                                                                \
    typedef WRAPPING W;                                                                            \
    const T *w = b, s = *(const T *)a;                                                             \
    T *to = sums;                                                                                  \
    (void)s;                                                                                       \
    switch (by->monoid) {                                                                          \
    case SHUNT_MIN: ADD_BY(LESSER);                                                                \
    case SHUNT_MAX: ADD_BY(GREATER);                                                               \
    case SHUNT_ANY: ADD_BY(KEEP);                                                                  \
    default: ADD_BY(ADD);                                                                          \
    }                                                                                              \
  }                                                                                                \
  static void clear_##NAME(const struct shunt_semiring *by, const uint32_t *k, int64_t n,          \
                           void *sums)                                                             \
  {                                                                                                \
    TYPE nothing = (NOTHING);                                                                      \
    if (by->monoid == SHUNT_MIN) nothing = (MOST);                                                 \
    if (by->monoid == SHUNT_MAX) nothing = (LEAST);                                                \
    for (int64_t h = 0; h < n; h++) ((TYPE *)sums)[k[h]] = nothing;                                \
  }
SUMS(f32, float, float, fminf, fmaxf, -0.0f, NAN, NAN)
SUMS(f64, double, double, fmin, fmax, -0.0, (double)NAN, (double)NAN)
SUMS(u8, uint8_t, unsigned, LESS, MORE, 0, 0, UINT8_MAX)
SUMS(u32, uint32_t, uint32_t, LESS, MORE, 0, 0, UINT32_MAX)
SUMS(i32, int32_t, uint32_t, LESS, MORE, 0, INT32_MIN, INT32_MAX)
SUMS(i64, int64_t, uint64_t, LESS, MORE, 0, INT64_MIN, INT64_MAX)
SUMS(u64, uint64_t, uint64_t, LESS, MORE, 0, 0, UINT64_MAX)

struct shunt_saxpy_sums shunt_saxpy_sums_of(const struct shunt_semiring *by)
{
  switch (by->type) {
  case SHUNT_U8: return (struct shunt_saxpy_sums){add_u8, clear_u8};
  case SHUNT_F32: return (struct shunt_saxpy_sums){add_f32, clear_f32};
  case SHUNT_F64: return (struct shunt_saxpy_sums){add_f64, clear_f64};
  case SHUNT_I32:
    return by->is_unsigned ? (struct shunt_saxpy_sums){add_u32, clear_u32}
                           : (struct shunt_saxpy_sums){add_i32, clear_i32};
  case SHUNT_I64: return (struct shunt_saxpy_sums){add_i64, clear_i64};
  default: return (struct shunt_saxpy_sums){add_u64, clear_u64};
  }
}
