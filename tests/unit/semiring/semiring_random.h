/* semiring_random.h: random operands for the tests of products over semirings.

   Arrays are allocated to the element, so that the sanitizers see a read past the end; what
   lies between the rows of a padded operand holds a pattern that must survive.  */
#ifndef TEST_SEMIRING_RANDOM_H
#define TEST_SEMIRING_RANDOM_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_kernels.h"

/* Under AddressSanitizer, too, memory that cannot be had is a null pointer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}

static uint64_t random_state = 88172645463325252u;

static inline uint64_t random_bits(void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 2685821657736338717u;
}

/* 0 <= x < n */
static inline int64_t random_below(int64_t n)
{
  return (int64_t)((random_bits() >> 11) % (uint64_t)n);
}

static inline bool one_in(int64_t n)
{
  return random_below(n) == 0;
}

/* Around everything that a tile, a vector or a block has for a size. */
static inline int64_t random_size(void)
{
  static const int16_t sizes[] = {0,  1,  1,  2,  3,  4,  5,  7,  8,  9,   12,  15,  16, 17,
                                  20, 31, 32, 33, 40, 47, 63, 64, 65, 100, 129, 200, 300};
  return sizes[random_below(sizeof sizes / sizeof sizes[0])];
}

static inline void *allocate(size_t bytes)
{
  void *p = malloc(bytes ? bytes : 1);
  if (!p) exit(1);
  return p;
}

/* ---- elements ------------------------------------------------------------------------- */
static inline double random_real(bool special)
{
  static const double strange[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0};
  if (special && one_in(12)) return strange[random_below(5)];
  return (double)(int64_t)random_bits() / 0x1p62;
}

static inline void random_element(shunt_type t, bool special, void *array, int64_t i)
{
  const uint64_t bits = one_in(2) ? random_bits() : (uint64_t)random_below(7) - 3;
  switch (t) {
  case SHUNT_F32: ((float *)array)[i] = (float)random_real(special); break;
  case SHUNT_F64: ((double *)array)[i] = random_real(special); break;
  case SHUNT_I32: ((uint32_t *)array)[i] = (uint32_t)bits; break;
  case SHUNT_U8: ((uint8_t *)array)[i] = bits & 1; break;
  default: ((uint64_t *)array)[i] = bits; break;
  }
}

static inline void *random_elements(shunt_type t, bool special, int64_t n)
{
  void *array = allocate((size_t)n * shunt_type_size(t));
  for (int64_t i = 0; i < n; i++) random_element(t, special, array, i);
  return array;
}

static inline double real_at(shunt_type t, const void *array, int64_t i)
{
  return t == SHUNT_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

/* The same element: a NaN is one, and zeros are equal. */
static inline bool same_element(shunt_type t, const void *x, const void *y, int64_t i)
{
  const size_t size = shunt_type_size(t);
  if (t == SHUNT_F32 || t == SHUNT_F64) {
    const double a = real_at(t, x, i), b = real_at(t, y, i);
    return a == b || (isnan(a) && isnan(b));
  }
  return memcmp((const char *)x + (size_t)i * size, (const char *)y + (size_t)i * size, size) == 0;
}

/* |x|: what a bound on rounding errors is a multiple of. */
static inline void *magnitudes(shunt_type t, const void *array, int64_t n)
{
  void *copy = allocate((size_t)n * shunt_type_size(t));
  for (int64_t i = 0; i < n; i++)
    if (t == SHUNT_F32)
      ((float *)copy)[i] = fabsf(((const float *)array)[i]);
    else
      ((double *)copy)[i] = fabs(((const double *)array)[i]);
  return copy;
}

/* ---- full operands -------------------------------------------------------------------- */
static inline int64_t full_elements(const struct shunt_full *f)
{
  if (f->iso) return 1;
  if (f->rows == 0 || f->cols == 0) return 0;
  return (f->rows - 1) * f->row_stride + (f->cols - 1) * f->col_stride + 1;
}

static inline struct shunt_full random_full(shunt_type t, int64_t rows, int64_t cols, bool special,
                                            bool may_be_iso, bool may_miss)
{
  struct shunt_full f = {.rows = rows, .cols = cols};
  const int64_t slack = one_in(2) ? 0 : random_below(9);
  const bool by_row = one_in(2);
  f.row_stride = by_row ? cols + slack + (cols == 0) : 1;
  f.col_stride = by_row ? 1 : rows + slack + (rows == 0);
  const int64_t places = full_elements(&f);
  f.iso = may_be_iso && one_in(6);
  f.values = random_elements(t, special, full_elements(&f));
  if (may_miss && one_in(4)) {
    const int64_t rare = 1 + random_below(4);
    f.present = allocate((size_t)places);
    for (int64_t i = 0; i < places; i++)
      f.present[i] = one_in(rare) ? 0 : (int8_t)(1 + random_below(3));
  }
  return f;
}

static inline void free_full(struct shunt_full *f)
{
  free(f->values);
  free(f->present);
}

/* ---- sparse operands -------------------------------------------------------------------- */
static inline void *indices_of_width(const int64_t *from, int64_t n, int *bytes)
{
  *bytes = one_in(2) ? 4 : 8;
  void *to = allocate((size_t)n * (size_t)*bytes);
  for (int64_t i = 0; i < n; i++)
    if (*bytes == 4)
      ((int32_t *)to)[i] = (int32_t)from[i];
    else
      ((int64_t *)to)[i] = from[i];
  return to;
}

/* `n` different numbers below `of`, in any order, to the front of a permutation. */
static inline void choose(int64_t *permutation, int64_t of, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    const int64_t j = i + random_below(of - i), kept = permutation[i];
    permutation[i] = permutation[j];
    permutation[j] = kept;
  }
}

static inline int64_t *permutation_of(int64_t n)
{
  int64_t *p = allocate((size_t)n * sizeof *p);
  for (int64_t i = 0; i < n; i++) p[i] = i;
  return p;
}

static inline struct shunt_sparse random_sparse(shunt_type t, int64_t rows, int64_t cols,
                                                bool special)
{
  struct shunt_sparse s = {.rows = rows, .cols = cols, .by_column = one_in(2), .iso = one_in(4)};
  const int64_t lines = s.by_column ? cols : rows, length = s.by_column ? rows : cols;
  const bool hyper = one_in(3);
  int64_t *line = permutation_of(lines), *place = permutation_of(length);

  s.vectors = hyper && lines > 0 ? random_below(lines + 1) : hyper ? 0 : lines;
  if (hyper) choose(line, lines, s.vectors);
  int64_t *offsets = allocate((size_t)(s.vectors + 1) * sizeof *offsets);
  int64_t *indices = allocate((size_t)(s.vectors * length) * sizeof *indices);
  const bool large = length > 300;
  const int64_t most = length == 0 ? 0 : large ? 40 : one_in(3) ? length : length / 8 + 1;
  for (int64_t v = 0; v < s.vectors; v++) {
    const int64_t n = one_in(4) ? 0 : random_below(most + 1);
    choose(place, length, n);
    memcpy(indices + s.nnz, place, (size_t)n * sizeof *indices);
    offsets[v] = s.nnz;
    s.nnz += n;
  }
  offsets[s.vectors] = s.nnz;
  s.ids = hyper ? indices_of_width(line, s.vectors, &s.id_bytes) : NULL;
  s.offsets = indices_of_width(offsets, s.vectors + 1, &s.offset_bytes);
  s.indices = indices_of_width(indices, s.nnz, &s.index_bytes);
  s.values = random_elements(t, special, s.iso ? 1 : s.nnz);
  free(line);
  free(place);
  free(offsets);
  free(indices);
  return s;
}

static inline void free_sparse(struct shunt_sparse *s)
{
  free((void *)s->ids);
  free((void *)s->offsets);
  free((void *)s->indices);
  free((void *)s->values);
}

/* ---- semirings ---------------------------------------------------------------------------- */
static inline bool semiring_built(const struct shunt_semiring *by)
{
  return !(by->monoid == SHUNT_PLUS && by->multiplier == SHUNT_ADD) &&
         !(by->monoid == SHUNT_MIN && by->multiplier == SHUNT_TIMES);
}

static inline struct shunt_semiring random_semiring(void)
{
  static const shunt_type types[] = {SHUNT_F32, SHUNT_F64, SHUNT_I32, SHUNT_I64, SHUNT_U64};
  return (struct shunt_semiring){(enum shunt_monoid)random_below(3),
                                 (enum shunt_multiplier)random_below(5), types[random_below(5)],
                                 false};
}

/* Sums of floats are compared to a bound, all else exactly. */
static inline bool rounds(const struct shunt_semiring *by)
{
  return by->monoid == SHUNT_PLUS && (by->type == SHUNT_F32 || by->type == SHUNT_F64);
}

/* Is x[i], a sum of `terms`, as good as y[i] in any order?  magnitude: sum of |terms|. */
static inline bool near(shunt_type t, const void *x, const void *y, const void *magnitude,
                        int64_t i, int64_t terms)
{
  const double epsilon = t == SHUNT_F32 ? 0x1p-24 : 0x1p-53;
  const double a = real_at(t, x, i), b = real_at(t, y, i);
  if (isnan(b)) return isnan(a);
  if (isinf(b)) return a == b;
  return fabs(a - b) <= 2 * epsilon * (double)(terms + 1) * real_at(t, magnitude, i);
}

#endif
