/* The matrix that `shunt bench` makes of a problem in blocks: its blocks and its rows are one
   matrix, so the twins of `bsr` and `csr` compute the same product; the word reruns the problem. */
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"
#include "kernels/bsr/bsr_kernels.h"
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/check.h"

/* C by the twin of `csr`, then by that of `bsr`: the same? */
static bool agrees(const struct bench_case *c)
{
  struct bench_operands o, blocks;
  if (!bench_operands_make(c, 7, &o) || !bench_blocks_make(c, o.array[BENCH_VALUES], &blocks))
    return false;
  struct shunt_problem p = bench_bind(c, o.array);
  const size_t bytes = o.bytes[BENCH_SECOND];
  void *want = malloc(bytes);
  bool good = want && shunt_csr_spmm_host(&p.spmm) == SHUNT_OK;
  if (good) memcpy(want, o.array[BENCH_SECOND], bytes);
  if (good) memset(o.array[BENCH_SECOND], 0xff, bytes);
  p.spmm.a.row_offsets = blocks.array[BENCH_OFFSETS];
  p.spmm.a.columns = blocks.array[BENCH_COLUMNS];
  p.spmm.a.values = blocks.array[BENCH_VALUES];
  good = good && shunt_bsr_spmm_host(&p.spmm, &c->blocks) == SHUNT_OK;
  const struct shunt_dense *m = &p.spmm.c;
  for (int64_t i = 0; good && i < m->rows; i++)
    for (int64_t j = 0; good && j < m->cols; j++) {
      const int64_t at = i * m->row_stride + j * m->col_stride;
      const double a = bench_load(want, at, m->type), b = bench_load(m->values, at, m->type);
      good = a - b <= 1e-5 && b - a <= 1e-5;
    }
  free(want);
  bench_operands_free(&o);
  bench_operands_free(&blocks);
  return good;
}

static void test_problem(const char *word)
{
  struct tool_source s;
  struct shunt_matrix m;
  struct bench_case c = {.matrix = "problem"};
  const bool loaded = check(tool_load(word, 1, 3, &s, &m), "%s is taken", word);
  if (!loaded) return;
  c.problem = s.problem;
  bench_finish_case(&c, &m, 1);
  check(strcmp(c.word, word) == 0, "the word of the case is the problem's: %s", c.word);
  check(c.problem.format == SHUNT_CSR && c.problem.blocks.size == 0 && c.blocks.size > 1,
        "the problem is in CSR, and the case knows its blocks");
  check(m.nnz == c.problem.spmm.a.nnz && m.nnz % (c.blocks.size * c.blocks.size) == 0,
        "every entry of every block is there");
  check(agrees(&c), "its blocks are the same matrix");
  shunt_matrix_free(&m);
}

static void test_refused(const char *word)
{
  struct tool_source s;
  struct shunt_matrix m;
  check(!tool_load(word, 1, 3, &s, &m), "%s is refused", word);
}

int main(void)
{
  test_problem("spmm:bsr:f32.f32.f32.f32:i32b0:m24n10k40z256:NN:rr:ld12.10:a1b0:alg0:v4");
  test_problem("spmm:bsr:f64.f64.f64.f64:i64b1:m64n3k32z512:NN:cc:ld32.64:a1b0:alg0:v16");
  test_problem("spmm:bsr:f32.f32.f32.f32:i32b0:m9n10k9z0:NN:rr:ld12.10:a1b0:alg0:v3");
  test_refused("spmm:bsr:f32.f32.f32.f32:i32b0:m24n10k40z250:NN:rr:ld12.10:a1b0:alg0:v4");
  test_refused("spmm:bsr:f32.f32.f32.f32:i32b0:m23n10k40z256:NN:rr:ld12.10:a1b0:alg0:v4");
  test_refused("spmm:bsr:f32.f32.f32.f32:i32b0:m200n10k200z10000:NN:rr:ld12.10:a1b0:alg0:v100");
  test_refused("spmm:ell:f32.f32.f32.f32:i32b0:m24n10k40z192:NN:rr:ld12.10:a1b0:alg0:v4w2");
  return check_finish();
}
