/* native_operands.h: tensors and packed patterns for the tests of libshunt.so's functions. */
#ifndef NATIVE_OPERANDS_H
#define NATIVE_OPERANDS_H

#include "backend/native/native.h"
#include "tests/unit/check.h"
#include "tests/unit/vector/vector_patterns.h"

enum { ROWS = 35, COLS = 60, D = 10, BATCHES = 2, HEADS = 3, PROBLEMS = BATCHES * HEADS };

/* [batch][row][head][column], rows of a head next to each other. */
static inline struct shunt_tensor tensor_new(int64_t rows, int64_t cols, shunt_type t)
{
  struct shunt_tensor x = {
      .type = t, .batches = BATCHES, .heads = HEADS, .rows = rows, .cols = cols};
  int64_t n = PROBLEMS * rows * cols;

  x.row_stride = HEADS * cols, x.head_stride = cols, x.batch_stride = rows * HEADS * cols;
  x.values = malloc((size_t)n * 4);
  fill_random(x.values, n, t, 1);
  return x;
}

static inline double element(const struct shunt_tensor *x, int64_t z, int64_t i, int64_t c)
{
  return shunt_load(
      x->values, z / HEADS * x->batch_stride + z % HEADS * x->head_stride + i * x->row_stride + c,
      x->type);
}

/* A random pattern, packed by shunt_pack; a.values are random numbers. */
struct made {
  struct packed_pattern raw;
  struct shunt_packed *p;
};

static inline struct made make(double holes, const struct shunt_packing *how)
{
  struct made m;

  check(pattern_pack(&m.raw, ROWS, COLS, random_there(ROWS, COLS, 0.4, holes), SHUNT_F16,
                     SHUNT_VECTOR_SEQUENTIAL),
        "a pattern");
  fill_random(m.raw.a.values, m.raw.a.nnz, SHUNT_F16, 1);
  check(shunt_pack(&m.raw.a, SHUNT_HOST, how, NULL, &m.p) == SHUNT_OK, "is packed");
  return m;
}

static inline void unmake(struct made *m)
{
  shunt_packed_free(m->p);
  pattern_free(&m->raw);
}

#endif
