/* turned.c: op(A) of a case by rows, where it is the transpose of the matrix that is stored: what a
   result is checked against.

     A    offsets, columns (the case's pattern)     values  a b c d
     A^T  offsets, columns, by counting             values  in the order of A's rows, for H
                                                            conjugated  */
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"

static bool get_arrays(const struct shunt_csr *a, struct bench_operands *o)
{
  o->bytes[BENCH_OFFSETS] = (size_t)(a->cols + 1) * sizeof(int64_t);
  o->bytes[BENCH_COLUMNS] = (size_t)a->nnz * sizeof(int64_t);
  o->bytes[BENCH_VALUES] = (size_t)a->nnz * shunt_type_size(a->value_type);
  for (int i = 0; i <= BENCH_VALUES; i++)
    if (!(o->array[i] = calloc(o->bytes[i] + 1, 1))) return false;
  return true;
}

static void copy_value(const struct shunt_problem *p, const void *values, int64_t from, void *to,
                       int64_t at)
{
  const shunt_type type = p->spmm.a.value_type;
  const size_t size = shunt_type_size(type);
  memcpy((char *)to + (size_t)at * size, (const char *)values + (size_t)from * size, size);
  if (p->op_a != 'H') return;
  if (type == SHUNT_C32) ((float *)to)[2 * at + 1] *= -1;
  if (type == SHUNT_C64) ((double *)to)[2 * at + 1] *= -1;
}

/* offsets[c + 1]: first how many entries column c has, then where it begins, at last where it
   ends. */
static void turn(const struct shunt_problem *p, const struct shunt_matrix *m, const void *values,
                 struct bench_operands *o)
{
  int64_t *offsets = o->array[BENCH_OFFSETS], *columns = o->array[BENCH_COLUMNS], begin = 0;
  for (int64_t s = 0; s < m->nnz; s++) offsets[m->columns[s] + 1]++;
  for (int64_t c = 0; c < m->cols; c++) {
    const int64_t count = offsets[c + 1];
    offsets[c + 1] = begin;
    begin += count;
  }
  for (int64_t i = 0; i < m->rows; i++)
    for (int64_t s = m->row_offsets[i]; s < m->row_offsets[i + 1]; s++) {
      const int64_t t = offsets[m->columns[s] + 1]++;
      columns[t] = i;
      copy_value(p, values, s, o->array[BENCH_VALUES], t);
    }
}

bool bench_turn(const struct bench_case *c, const void *values, struct bench_operands *o)
{
  const struct shunt_problem *p = &c->problem;
  const double bytes = (double)p->spmm.a.nnz * (8 + (double)shunt_type_size(p->spmm.a.value_type));
  *o = (struct bench_operands){{0}, {0}};
  if (!shunt_problem_transposed(p)) return true;
  if (!tool_fits_memory(bytes, c->matrix)) return false;
  if (!get_arrays(&p->spmm.a, o)) {
    tool_say("%s: out of memory", c->matrix);
    bench_operands_free(o);
    return false;
  }
  turn(p, c->pattern, values, o);
  return true;
}

struct shunt_problem bench_bind_turned(const struct shunt_problem *p,
                                       void *const array[BENCH_ARRAYS])
{
  struct shunt_problem out = *p;
  if (!shunt_problem_transposed(p)) return out;
  out.op_a = 'N';
  out.spmm.a = (struct shunt_csr){p->spmm.a.cols,
                                  p->spmm.a.rows,
                                  p->spmm.a.nnz,
                                  array[BENCH_OFFSETS],
                                  array[BENCH_COLUMNS],
                                  array[BENCH_VALUES],
                                  SHUNT_I64,
                                  p->spmm.a.value_type,
                                  0};
  return out;
}
