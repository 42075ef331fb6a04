/* What `shunt bench` checks transposed products against: op(A) by rows holds each entry of A once,
   at the exchanged place, its value conjugated for H; entries of a row stand in the order of A's
   rows.  */
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"
#include "tests/unit/check.h"

enum { ROWS = 3, COLUMNS = 4, ENTRIES = 6 };

/* | 0 1 . 2 |   entry numbers; the last row is unsorted
   | . . . . |
   | . 5 3 4 |  */
static int64_t offsets[] = {0, 3, 3, 6}, columns[] = {0, 1, 3, 2, 3, 1};
static const int64_t turned_offsets[] = {0, 1, 3, 4, 6}, turned_columns[] = {0, 0, 2, 2, 0, 2};
static const int places[] = {0, 1, 5, 3, 2, 4};

static struct bench_case case_of(const struct shunt_matrix *m, const char *type, char op)
{
  struct bench_options o = {.op = SHUNT_SPMM, .op_a = op, .index_type = SHUNT_I32};
  struct bench_case c = {.matrix = "small"};
  int types = 0;
  while (strcmp(bench_type_words[types], type) != 0) types++;
  c.problem = bench_problem(m, 5, types, "rr", &o);
  bench_finish_case(&c, m, 1);
  return c;
}

/* Part `part` (0: real, 1: imaginary) of value i. */
static double part_of(const void *values, shunt_type t, int i, int part)
{
  switch (t) {
  case SHUNT_C32: return ((const float *)values)[2 * i + part];
  case SHUNT_C64: return ((const double *)values)[2 * i + part];
  default: return part ? 0 : bench_load(values, i, t);
  }
}

static bool values_turned(const struct bench_case *c, const void *from, const void *to)
{
  const shunt_type t = c->problem.spmm.a.value_type;
  const double sign = c->problem.op_a == 'H' ? -1 : 1;
  bool good = true;
  for (int i = 0; i < ENTRIES; i++)
    good = good && part_of(to, t, i, 0) == part_of(from, t, places[i], 0) &&
           part_of(to, t, i, 1) == sign * part_of(from, t, places[i], 1);
  return good;
}

static void test_turn(const char *type, char op)
{
  struct shunt_matrix m = {
      .rows = ROWS, .cols = COLUMNS, .nnz = ENTRIES, .row_offsets = offsets, .columns = columns};
  const struct bench_case c = case_of(&m, type, op);
  const struct shunt_spmm *s = &c.problem.spmm;
  struct bench_operands o, turned;
  check(c.problem.op_a == op && s->b.rows == ROWS && s->c.rows == COLUMNS,
        "%s %c: B has the rows of A, and C its columns", type, op);
  if (!check(bench_operands_make(&c, 7, &o) && bench_turn(&c, o.array[BENCH_VALUES], &turned),
             "%s %c: made", type, op))
    return;
  const struct shunt_problem given = bench_bind(&c, o.array);
  const struct shunt_problem p = bench_bind_turned(&given, turned.array);
  const struct shunt_csr *a = &p.spmm.a;
  check(p.op_a == 'N' && a->rows == COLUMNS && a->cols == ROWS && a->nnz == ENTRIES,
        "%s %c: by rows", type, op);
  check(memcmp(a->row_offsets, turned_offsets, sizeof turned_offsets) == 0 &&
            memcmp(a->columns, turned_columns, sizeof turned_columns) == 0,
        "%s %c: the pattern is the transpose", type, op);
  check(values_turned(&c, given.spmm.a.values, a->values), "%s %c: so are the values", type, op);
  bench_operands_free(&o);
  bench_operands_free(&turned);
}

/* What a problem of the log becomes by rows. */
static void test_problem(const char *word, const char *by_rows)
{
  struct tool_source s;
  struct shunt_matrix m;
  struct bench_case c = {.matrix = "problem"};
  if (!check(tool_load(word, 1, 3, &s, &m), "%s is taken", word)) return;
  c.problem = s.problem;
  bench_finish_case(&c, &m, 1);
  check(strcmp(c.word, by_rows) == 0, "... as %s", c.word);
  shunt_matrix_free(&m);
}

int main(void)
{
  test_turn("f16", 'T');
  test_turn("f64", 'T');
  test_turn("f32", 'H');
  test_turn("c32", 'T');
  test_turn("c32", 'H');
  test_turn("c64", 'H');
  test_problem("spmm:csr:c32.c32.c32.c32:i32b0:m8n2k9z12:HN:rr:ld2.2:a1b0:alg0",
               "spmm:csr:c32.c32.c32.c32:i32b0:m8n2k9z12:HN:rr:ld2.2:a1b0:alg0");
  test_problem("spmm:coo:f32.f32.f32.f32:i32b0:m8n2k9z12:TN:rr:ld2.2:a1b0:alg0",
               "spmm:csr:f32.f32.f32.f32:i32b0:m8n2k9z12:TN:rr:ld2.2:a1b0:alg0");
  test_problem("spmm:csc:f32.f32.f32.f32:i32b0:m8n2k9z12:NN:rr:ld2.2:a1b0:alg0",
               "spmm:csr:f32.f32.f32.f32:i32b0:m8n2k9z12:TN:rr:ld2.2:a1b0:alg0");
  test_problem("spmm:csc:f32.f32.f32.f32:i32b0:m8n2k9z12:TN:rr:ld2.2:a1b0:alg0",
               "spmm:csr:f32.f32.f32.f32:i32b0:m8n2k9z12:NN:rr:ld2.2:a1b0:alg0");
  return check_finish();
}
