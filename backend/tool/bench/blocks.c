/* blocks.c: the matrix of a case in square blocks (kernels/bsr/bsr_format.h). */
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"

static void store_index(void *to, int64_t i, shunt_type type, int64_t x)
{
  if (type == SHUNT_I32)
    ((int32_t *)to)[i] = (int32_t)x;
  else
    ((int64_t *)to)[i] = x;
}

/* Rows of blocks, and blocks in all. */
static int64_t block_rows(const struct bench_case *c)
{
  return c->problem.spmm.a.rows / c->blocks.size;
}
static int64_t block_count(const struct bench_case *c)
{
  return c->problem.spmm.a.nnz / (c->blocks.size * c->blocks.size);
}

/* Block row r: its first row has each block's columns, one block behind the other. */
static void convert_row(const struct bench_case *c, int64_t r, const char *values,
                        const struct bench_operands *o)
{
  const struct shunt_csr *a = &c->problem.spmm.a;
  const int64_t size = c->blocks.size, *row = c->pattern->row_offsets + r * size;
  const int64_t first = row[0] / (size * size), count = (row[1] - row[0]) / size;
  const size_t element = shunt_type_size(a->value_type), line = (size_t)size * element;
  char *to = o->array[BENCH_VALUES];
  store_index(o->array[BENCH_OFFSETS], r, a->index_type, first + a->base);
  for (int64_t j = 0; j < count; j++) {
    const int64_t column = c->pattern->columns[row[0] + j * size] / size;
    store_index(o->array[BENCH_COLUMNS], first + j, a->index_type, column + a->base);
    for (int64_t i = 0; i < size; i++)
      memcpy(to + (size_t)((first + j) * size + i) * line,
             values + (size_t)(row[i] + j * size) * element, line);
  }
}

bool bench_blocks_make(const struct bench_case *c, const void *values, struct bench_operands *o)
{
  const struct shunt_csr *a = &c->problem.spmm.a;
  const size_t index = shunt_type_size(a->index_type);
  *o = (struct bench_operands){{0}, {0}};
  o->bytes[BENCH_OFFSETS] = (size_t)(block_rows(c) + 1) * index;
  o->bytes[BENCH_COLUMNS] = (size_t)block_count(c) * index;
  o->bytes[BENCH_VALUES] = (size_t)a->nnz * shunt_type_size(a->value_type);
  for (int i = BENCH_OFFSETS; i <= BENCH_VALUES; i++) {
    o->array[i] = malloc(o->bytes[i] + 1);
    if (o->array[i]) continue;
    tool_say("%s: out of memory", c->matrix);
    bench_operands_free(o);
    return false;
  }
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < block_rows(c); r++) convert_row(c, r, values, o);
  store_index(o->array[BENCH_OFFSETS], block_rows(c), a->index_type, block_count(c) + a->base);
  return true;
}
