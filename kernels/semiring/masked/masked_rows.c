/* masked_rows.c: operands by row with narrow indices; typed sums (masked_rows.h).
 */
#include "kernels/semiring/masked/masked_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_operands.h"

/* ---- operands ----------------------------------------------------------------------------- */

static bool make_offsets(const struct shunt_sparse *s, struct shunt_rows *r)
{
  int64_t *offsets = malloc((size_t)(s->rows + 1) * sizeof *offsets), row = 0;
  r->owned[0] = offsets;
  r->offsets = offsets;
  if (!offsets) return false;
  for (int64_t v = 0; v < s->vectors; v++)
    for (const int64_t id = shunt_vector_id(s, v); row <= id; row++)
      offsets[row] = shunt_vector_begin(s, v);
  for (; row <= s->rows; row++) offsets[row] = s->nnz;
  return true;
}

uint32_t *shunt_narrow_indices(const struct shunt_sparse *s, int threads)
{
  uint32_t *indices = malloc(((size_t)s->nnz + 1) * sizeof *indices);
  const int64_t *wide = s->indices;
  (void)threads;
  if (indices) {
    SHUNT_OMP(omp parallel for schedule(static) num_threads(threads) if (s->nnz > 65536))
    for (int64_t q = 0; q < s->nnz; q++) indices[q] = (uint32_t)wide[q];
  }
  return indices;
}

/* narrow: the indices, if somebody has them. */
static bool by_row(const struct shunt_sparse *s, const uint32_t *narrow, int threads,
                   struct shunt_rows *r)
{
  r->values = s->values;
  r->indices = narrow ? narrow : s->index_bytes == 4 ? s->indices : NULL;
  r->offsets = s->offsets;
  if ((s->ids || s->offset_bytes != 8) && !make_offsets(s, r)) return false;
  if (!r->indices) r->indices = r->owned[1] = shunt_narrow_indices(s, threads);
  return r->indices != NULL;
}

static void copy_value(char *to, int64_t at, const char *from, int64_t q, size_t size)
{
  if (size == 4)
    ((uint32_t *)(void *)to)[at] = ((const uint32_t *)(const void *)from)[q];
  else
    ((uint64_t *)(void *)to)[at] = ((const uint64_t *)(const void *)from)[q];
}

/* Entries in the order of the columns come to stand in ascending order in each row. */
static bool transpose(const struct shunt_sparse *s, size_t size, bool values, struct shunt_rows *r)
{
  int64_t *offsets = calloc((size_t)s->rows + 2, sizeof *offsets);
  uint32_t *indices = malloc(((size_t)s->nnz + 1) * sizeof *indices);
  char *copies = values ? malloc(((size_t)s->nnz + 1) * size) : NULL;
  r->owned[0] = offsets, r->owned[1] = indices, r->owned[2] = copies;
  if (!offsets || !indices || (values && !copies)) return false;
  int64_t *next = offsets + 1;
  for (int64_t q = 0; q < s->nnz; q++) offsets[shunt_entry_index(s, q) + 2]++;
  for (int64_t i = 1; i <= s->rows; i++) offsets[i + 1] += offsets[i];
  for (int64_t v = 0; v < s->vectors; v++) {
    const uint32_t column = (uint32_t)shunt_vector_id(s, v);
    for (int64_t q = shunt_vector_begin(s, v); q < shunt_vector_begin(s, v + 1); q++) {
      const int64_t to = next[shunt_entry_index(s, q)]++;
      indices[to] = column;
      if (values) copy_value(copies, to, s->values, q, size);
    }
  }
  r->offsets = offsets;
  r->indices = indices;
  r->values = values ? copies : s->values;
  return true;
}

bool shunt_rows_make(const struct shunt_sparse *s, size_t size, bool use_values,
                     const uint32_t *narrow, int threads, struct shunt_rows *out)
{
  *out = (struct shunt_rows){.rows = s->rows, .cols = s->cols, .nnz = s->nnz, .iso = s->iso};
  if (s->by_column) return transpose(s, size, use_values && !s->iso, out);
  return by_row(s, narrow, threads, out);
}

void shunt_rows_free(struct shunt_rows *r)
{
  for (int i = 0; i < 3; i++) free(r->owned[i]);
}

/* ---- sums ---------------------------------------------------------------------------------- */

#define LESS(x, y) ((x) < (y) ? (x) : (y))
#define MORE(x, y) ((x) > (y) ? (x) : (y))
#define ADD(x, y) (T)((W)(x) + (W)(y))

#define SUM_OF(COMBINE, TERM)                                                                      \
  for (int64_t h = 0; h < met->count; h++) {                                                       \
    const T s = u[met->a[h] * step_a], t = w[met->b[h] * step_b], term = (T)(TERM);                \
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
  static void NAME(const struct shunt_semiring *by, const struct shunt_rows *a,                    \
                   const struct shunt_rows *b, const struct shunt_meetings *met, void *out,        \
                   int64_t at)                                                                     \
  {                                                                                                \
    typedef TYPE T;                                                                                \
    typedef WRAPPING W;                                                                            \
    const T *u = a->values, *w = b->values;                                                        \
    const int64_t step_a = !a->iso, step_b = !b->iso;                                              \
    T sum = 0;                                                                                     \
    switch (by->monoid) {                                                                          \
    case SHUNT_MIN: SUM_BY(LESSER);                                                                \
    case SHUNT_MAX: SUM_BY(GREATER);                                                               \
    default: SUM_BY(ADD);                                                                          \
    }                                                                                              \
    ((T *)out)[at] = sum;                                                                          \
  }
SUMS(sum_f32, float, float, fminf, fmaxf)
SUMS(sum_f64, double, double, fmin, fmax)
SUMS(sum_i32, int32_t, uint32_t, LESS, MORE)
SUMS(sum_i64, int64_t, uint64_t, LESS, MORE)
SUMS(sum_u64, uint64_t, uint64_t, LESS, MORE)

shunt_sum shunt_sum_of(shunt_type t)
{
  switch (t) {
  case SHUNT_F32: return sum_f32;
  case SHUNT_F64: return sum_f64;
  case SHUNT_I32: return sum_i32;
  case SHUNT_I64: return sum_i64;
  case SHUNT_U64: return sum_u64;
  default: return NULL;
  }
}

#define STORE_COUNTS(T, W)                                                                         \
  for (int64_t p = 0; p < n; p++)                                                                  \
    if (counts[p]) ((T *)out)[at++] = (T)((W)counts[p] * (W) * (const T *)term);                   \
  break

void shunt_store_counts(shunt_type t, const uint32_t *counts, int64_t n, const void *term,
                        void *out, uint64_t at)
{
  switch (t) {
  case SHUNT_F32: STORE_COUNTS(float, double);
  case SHUNT_F64: STORE_COUNTS(double, double);
  case SHUNT_I32: STORE_COUNTS(uint32_t, uint32_t);
  default: STORE_COUNTS(uint64_t, uint64_t);
  }
}
