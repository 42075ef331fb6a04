/* vector_patterns.h: small patterns in the `vector` format for unit tests, on the host. */
#ifndef VECTOR_PATTERNS_H
#define VECTOR_PATTERNS_H

#include <stdlib.h>
#include <string.h>

#include "conv/vector/vector_conv.h"
#include "kernels/common/host_element.h"

#define RANDOM_SEED 7
#include "tests/unit/random.h"

/* A pattern as it is written down, one byte an element, and packed. */
struct packed_pattern {
  int64_t rows, cols;
  unsigned char *there; /* [rows][cols] */
  struct shunt_csr a;   /* I32 indices, base 0, values 0, 1, 2, .. as bits */
  struct shunt_vector v;
  void *memory;
  int64_t value_count; /* elements of one set of values, the step read ahead included */
};

static inline void pattern_to_csr(struct packed_pattern *p)
{
  int32_t *offsets = calloc((size_t)p->rows + 1, 4);
  int32_t *columns = calloc((size_t)(p->rows * p->cols) + 1, 4);
  uint16_t *values = calloc((size_t)(p->rows * p->cols) + 1, 2);
  int32_t n = 0;

  for (int64_t i = 0; i < p->rows; i++) {
    for (int64_t j = 0; j < p->cols; j++)
      if (p->there[i * p->cols + j]) values[n] = (uint16_t)n, columns[n++] = (int32_t)j;
    offsets[i + 1] = n;
  }
  p->a.rows = p->rows, p->a.cols = p->cols, p->a.nnz = n;
  p->a.row_offsets = offsets, p->a.columns = columns, p->a.values = values;
  p->a.index_type = SHUNT_I32;
}

/* `there` becomes the pattern's own.  False: it could not be packed. */
static inline int pattern_pack(struct packed_pattern *p, int64_t rows, int64_t cols,
                               unsigned char *there, shunt_type type, enum shunt_vector_order order)
{
  struct shunt_vector_layout layout = {.order = order, .height = 1};

  memset(p, 0, sizeof *p);
  p->rows = rows, p->cols = cols, p->there = there;
  p->a.value_type = type;
  pattern_to_csr(p);
  p->memory = aligned_alloc(256, shunt_vector_bytes(&p->a, &layout));
  p->value_count = (shunt_vector_room(&p->a, &layout).steps + 1) * SHUNT_VECTOR_STEP_VALUES;
  return shunt_vector_lay_out(&p->a, &layout, p->memory, &p->v) &&
         shunt_csr_to_vector_host(&p->a, &layout, &p->v) == SHUNT_OK && !p->v.counts->irregular;
}

static inline void pattern_free(struct packed_pattern *p)
{
  free(p->there);
  free((void *)(uintptr_t)p->a.row_offsets);
  free((void *)(uintptr_t)p->a.columns);
  free(p->a.values);
  free(p->memory);
}

/* Aligned sets of 8 rows share a list of columns, of which a row lacks a share of `holes`;
   every fourth set has none. */
static inline unsigned char *random_there(int64_t rows, int64_t cols, double density, double holes)
{
  unsigned char *there = calloc((size_t)(rows * cols) + 1, 1);

  for (int64_t g = 0; g < rows; g += 8)
    for (int64_t j = 0; j < cols; j++) {
      int shared = g / 8 % 4 != 2 && random_unit() < density;
      for (int64_t i = g; i < g + 8 && i < rows; i++)
        there[i * cols + j] = (unsigned char)(shared && random_unit() >= holes);
    }
  return there;
}

/* Element (i, j) of packed values, which the pattern has. */
static inline int64_t packed_place(const struct packed_pattern *p, int64_t i, int64_t j)
{
  const struct shunt_vector *v = &p->v;
  int64_t group = i / SHUNT_VECTOR_ROWS;

  for (int64_t s = v->begin[group]; s < (int64_t)v->begin[group] + v->count[group]; s++)
    for (int slot = 0; slot < SHUNT_VECTOR_STEP; slot++)
      if (v->columns[s * SHUNT_VECTOR_STEP + slot] == j && v->masks[s * SHUNT_VECTOR_STEP + slot])
        return s * SHUNT_VECTOR_STEP_VALUES + shunt_vector_place((int)(i % 8), slot);
  return -1;
}

/* Are the places that no position of the pattern has all zero? */
static inline int rest_is_zero(const struct packed_pattern *p, const uint16_t *values)
{
  const struct shunt_vector *v = &p->v;
  int good = 1;

  for (int64_t g = 0; g < v->groups; g++)
    for (int64_t s = v->begin[g]; s < (int64_t)v->begin[g] + v->count[g]; s++)
      for (int i = 0; i < SHUNT_VECTOR_STEP * SHUNT_VECTOR_ROWS; i++)
        good &= v->masks[s * SHUNT_VECTOR_STEP + i / 8] >> i % 8 & 1 ||
                values[s * SHUNT_VECTOR_STEP_VALUES + shunt_vector_place(i % 8, i / 8)] == 0;
  return good;
}

static inline void fill_random(void *to, int64_t n, shunt_type t, double size)
{
  for (int64_t i = 0; i < n; i++) shunt_store(to, i, t, size * (2 * random_unit() - 1));
}

#endif
