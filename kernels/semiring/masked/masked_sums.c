/* masked_sums.c: sums over what two rows share (masked_rows.h). */
#include <math.h>

#include "kernels/semiring/masked/masked_rows.h"

#define LESS(x, y) ((x) < (y) ? (x) : (y))
#define MORE(x, y) ((x) > (y) ? (x) : (y))
#define ADD(x, y) (T)((W)(x) + (W)(y))
#define KEEP(x, y) ((void)(y), (x)) /* of any the first */

#define SUM_OF(COMBINE, TERM)                                                                      \
  for (int64_t h = 0; h < terms->count; h++) {                                                     \
    const int64_t q = terms->met[h];                                                               \
    const T s = u[terms->k[q] * step_a], t = w[q * step_b], term = (T)(TERM);                      \
    sum = h ? COMBINE(sum, term) : term;                                                           \
    (void)s, (void)t;                                                                              \
  }                                                                                                \
  break
#define SUM_BY(COMBINE)                                                                            \
  switch (by->multiplier) {                                                                        \
  case SHUNT_TIMES: SUM_OF(COMBINE, (W)s *(W)t);                                                   \
  case SHUNT_FIRST: SUM_OF(COMBINE, s);                                                            \
  case SHUNT_SECOND: SUM_OF(COMBINE, t);                                                           \
  case SHUNT_PAIR: SUM_OF(COMBINE, 1);                                                             \
  default: SUM_OF(COMBINE, (W)s + (W)t);                                                           \
  }                                                                                                \
  break

/* WRAPPING: the type in which sums and products wrap. */
#define SUMS(NAME, TYPE, WRAPPING, LESSER, GREATER)                                                \
  static void NAME(const struct shunt_semiring *by, const struct shunt_terms *terms, void *out,    \
                   int64_t at)                                                                     \
  {                                                                                                \
    typedef TYPE T;                                                                                \
    typedef WRAPPING W;                                                                            \
    const T *u = terms->a, *w = terms->b;                                                          \
    const int64_t step_a = !terms->a_is_one, step_b = !terms->b_is_one;                            \
    T sum = 0;                                                                                     \
    switch (by->monoid) {                                                                          \
    case SHUNT_MIN: SUM_BY(LESSER);                                                                \
    case SHUNT_MAX: SUM_BY(GREATER);                                                               \
    case SHUNT_ANY: SUM_BY(KEEP);                                                                  \
    default: SUM_BY(ADD);                                                                          \
    }                                                                                              \
    ((T *)out)[at] = sum;                                                                          \
  }
SUMS(sum_f32, float, float, fminf, fmaxf)
SUMS(sum_f64, double, double, fmin, fmax)
SUMS(sum_u8, uint8_t, unsigned, LESS, MORE)
SUMS(sum_i32, int32_t, uint32_t, LESS, MORE)
SUMS(sum_u32, uint32_t, uint32_t, LESS, MORE)
SUMS(sum_i64, int64_t, uint64_t, LESS, MORE)
SUMS(sum_u64, uint64_t, uint64_t, LESS, MORE)

shunt_sum shunt_sum_of(const struct shunt_semiring *by)
{
  switch (by->type) {
  case SHUNT_U8: return sum_u8;
  case SHUNT_F32: return sum_f32;
  case SHUNT_F64: return sum_f64;
  case SHUNT_I32: return by->is_unsigned ? sum_u32 : sum_i32;
  case SHUNT_I64: return sum_i64;
  case SHUNT_U64: return sum_u64;
  default: return NULL;
  }
}

/* What is not there is overwritten by the next: no branch asks which it is. */
#define STORE_COUNTS(T, W)                                                                         \
  for (; at < end; counts++) {                                                                     \
    ((T *)out)[at] = (T)((W)*counts * (W) * (const T *)term);                                      \
    at += *counts != 0;                                                                            \
  }                                                                                                \
  break

void shunt_store_counts(shunt_type t, const uint32_t *counts, const void *term, void *out,
                        uint64_t at, uint64_t end)
{
  switch (t) {
  case SHUNT_F32: STORE_COUNTS(float, double);
  case SHUNT_F64: STORE_COUNTS(double, double);
  case SHUNT_I32: STORE_COUNTS(uint32_t, uint32_t);
  default: STORE_COUNTS(uint64_t, uint64_t);
  }
}
