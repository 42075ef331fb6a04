/* semiring_twin.c: products over semirings, slow and obviously right.

   What kernels/semiring/semiring_kernels.h says, word by word: one thread, every layout through the
   same address formula, T and its pattern held in full before C is touched.  Everything faster
   is compared to this.  */
#include <math.h>
#include <stdlib.h>

#include "kernels/semiring/semiring_operands.h"

static int64_t element(const struct shunt_full *f, int64_t i, int64_t j)
{
  return f->iso ? 0 : i * f->row_stride + j * f->col_stride;
}

static bool present(const struct shunt_full *f, int64_t i, int64_t j)
{
  return !f->present || f->present[i * f->row_stride + j * f->col_stride];
}

/* T: element type.  W: the type in which sums and products wrap (T itself for floats).
   LESSER, GREATER: the MIN and MAX monoids.  */
#define TWIN(NAME, T, W, LESSER, GREATER)                                                          \
  static T NAME##_multiply(enum shunt_multiplier by, T s, T b)                                     \
  {                                                                                                \
    switch (by) {                                                                                  \
    case SHUNT_TIMES: return (T)((W)s * (W)b);                                                     \
    case SHUNT_FIRST: return s;                                                                    \
    case SHUNT_SECOND: return b;                                                                   \
    case SHUNT_PAIR: return 1;                                                                     \
    default: return (T)((W)s + (W)b);                                                              \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  static T NAME##_combine(enum shunt_monoid with, T x, T y)                                        \
  {                                                                                                \
    switch (with) {                                                                                \
    case SHUNT_MIN: return LESSER(x, y);                                                           \
    case SHUNT_MAX: return GREATER(x, y);                                                          \
    default: return (T)((W)x + (W)y);                                                              \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  /* One entry (i, k) of S times row k of B, into row i of t. */                                   \
  static void NAME##_entry(const struct shunt_host_spmm *p, int64_t i, int64_t k, T s, T *t,       \
                           bool *exists)                                                           \
  {                                                                                                \
    const struct shunt_semiring *by = &p->semiring;                                                \
    const T *b = p->b.values;                                                                      \
    for (int64_t j = 0; j < p->c.cols; j++) {                                                      \
      const int64_t at = i * p->c.cols + j;                                                        \
      if (!present(&p->b, k, j)) continue;                                                         \
      const T term = NAME##_multiply(by->multiplier, s, b[element(&p->b, k, j)]);                  \
      t[at] = exists[at] ? NAME##_combine(by->monoid, t[at], term) : term;                         \
      exists[at] = true;                                                                           \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  static void NAME##_store(const struct shunt_host_spmm *p, const T *t, const bool *exists)        \
  {                                                                                                \
    T *c = p->c.values;                                                                            \
    for (int64_t i = 0; i < p->c.rows; i++)                                                        \
      for (int64_t j = 0; j < p->c.cols; j++) {                                                    \
        const int64_t from = i * p->c.cols + j, to = element(&p->c, i, j);                         \
        if (!p->accumulate)                                                                        \
          c[to] = exists[from] ? t[from] : 0;                                                      \
        else if (exists[from])                                                                     \
          c[to] = NAME##_combine(p->semiring.monoid, c[to], t[from]);                              \
        if (p->c.present) p->c.present[to] = exists[from];                                         \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void NAME##_spmm(const struct shunt_host_spmm *p, void *t, bool *exists)                  \
  {                                                                                                \
    const struct shunt_sparse *s = &p->s;                                                          \
    const T *values = s->values;                                                                   \
    for (int64_t v = 0; v < s->vectors; v++)                                                       \
      for (int64_t q = shunt_vector_begin(s, v); q < shunt_vector_begin(s, v + 1); q++) {          \
        const int64_t id = shunt_vector_id(s, v), index = shunt_entry_index(s, q);                 \
        NAME##_entry(p, s->by_column ? index : id, s->by_column ? id : index,                      \
                     values[s->iso ? 0 : q], t, exists);                                           \
      }                                                                                            \
    NAME##_store(p, t, exists);                                                                    \
  }                                                                                                \
                                                                                                   \
  static void NAME##_sddmm(const struct shunt_host_sddmm *p)                                       \
  {                                                                                                \
    const struct shunt_sparse *s = &p->pattern;                                                    \
    const T *u = p->u.values, *w = p->v.values;                                                    \
    const enum shunt_multiplier by = p->semiring.multiplier;                                       \
    for (int64_t v = 0; v < s->vectors; v++)                                                       \
      for (int64_t q = shunt_vector_begin(s, v); q < shunt_vector_begin(s, v + 1); q++) {          \
        const int64_t id = shunt_vector_id(s, v), index = shunt_entry_index(s, q);                 \
        const int64_t i = s->by_column ? index : id, j = s->by_column ? id : index;                \
        T sum = NAME##_multiply(by, u[element(&p->u, i, 0)], w[element(&p->v, 0, j)]);             \
        for (int64_t k = 1; k < p->u.cols; k++)                                                    \
          sum = NAME##_combine(                                                                    \
              p->semiring.monoid, sum,                                                             \
              NAME##_multiply(by, u[element(&p->u, i, k)], w[element(&p->v, k, j)]));              \
        ((T *)p->out)[q] = sum;                                                                    \
      }                                                                                            \
  }
#define LESS(x, y) ((x) < (y) ? (x) : (y))
#define MORE(x, y) ((x) > (y) ? (x) : (y))
TWIN(f32, float, float, fminf, fmaxf)
TWIN(f64, double, double, fmin, fmax)
TWIN(i32, int32_t, uint32_t, LESS, MORE)
TWIN(i64, int64_t, uint64_t, LESS, MORE)
TWIN(u64, uint64_t, uint64_t, LESS, MORE)

shunt_status shunt_host_spmm_twin(const struct shunt_host_spmm *p)
{
  shunt_status status = shunt_host_spmm_check(p);
  if (status != SHUNT_OK || p->c.rows == 0 || p->c.cols == 0) return status;

  const size_t elements = (size_t)p->c.rows * (size_t)p->c.cols;
  void *t = calloc(elements, shunt_type_size(p->semiring.type));
  bool *exists = calloc(elements, sizeof *exists);
  if (!t || !exists)
    status = SHUNT_E_MEMORY;
  else if (p->semiring.type == SHUNT_F32)
    f32_spmm(p, t, exists);
  else if (p->semiring.type == SHUNT_F64)
    f64_spmm(p, t, exists);
  else if (p->semiring.type == SHUNT_I32)
    i32_spmm(p, t, exists);
  else if (p->semiring.type == SHUNT_I64)
    i64_spmm(p, t, exists);
  else
    u64_spmm(p, t, exists);
  free(t);
  free(exists);
  return status;
}

shunt_status shunt_host_sddmm_twin(const struct shunt_host_sddmm *p)
{
  const shunt_status status = shunt_host_sddmm_check(p);
  if (status != SHUNT_OK) return status;
  switch (p->semiring.type) {
  case SHUNT_F32: f32_sddmm(p); break;
  case SHUNT_F64: f64_sddmm(p); break;
  case SHUNT_I32: i32_sddmm(p); break;
  case SHUNT_I64: i64_sddmm(p); break;
  default: u64_sddmm(p); break;
  }
  return SHUNT_OK;
}
