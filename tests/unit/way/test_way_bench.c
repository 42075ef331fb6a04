/* test_way_bench.c: what `shunt bench` times of products with a transpose is the route's call: the
   proof, the values gathered anew, the product of A as it is now; and making the copy, once.  */
#include "backend/tool/bench/gpu.h"
#include "tests/unit/way/program.h"

/* ---- device memory ------------------------------------------------------------------------ */

bool gpu_get(void **to, size_t bytes, const char *what, struct bench_way *w)
{
  (void)what, (void)w;
  *to = aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *to != NULL;
}
bool gpu_get_workspace(struct gpu_case *g, size_t bytes, struct bench_way *w)
{
  g->workspace_bytes = bytes;
  return gpu_get(&g->workspace, bytes, "workspace", w);
}

/* ---- a case --------------------------------------------------------------------------------- */

struct measured {
  struct shunt_matrix pattern;
  struct bench_case c;
  struct bench_operands o;
  struct gpu gpu;
  struct gpu_case g;
  struct bench_way way;
};

static void begin(struct measured *m, const char *word)
{
  struct tool_source s;
  *m = (struct measured){.c = {.matrix = "problem"}};
  EXPECT(tool_load(word, 1, 3, &s, &m->pattern), "%s is taken", word);
  m->c.problem = s.problem;
  bench_finish_case(&m->c, &m->pattern, 1);
  EXPECT(bench_operands_make(&m->c, 7, &m->o), "operands");
  EXPECT(cudaStreamCreateWithFlags(&m->gpu.stream, cudaStreamNonBlocking) == cudaSuccess &&
             cudaEventCreate(&m->gpu.start) == cudaSuccess &&
             cudaEventCreate(&m->gpu.stop) == cudaSuccess,
         "a stream");
  m->g = (struct gpu_case){.gpu = &m->gpu, .c = &m->c, .p = bench_bind(&m->c, m->o.array)};
}

static void end(struct measured *m)
{
  free(m->g.workspace);
  free(m->g.converted);
  bench_operands_free(&m->o);
  shunt_matrix_free(&m->pattern);
  cudaEventDestroy(m->gpu.start);
  cudaEventDestroy(m->gpu.stop);
  cudaStreamDestroy(m->gpu.stream);
}

/* The product of op(A) by rows, as it is now, in memory of its own. */
static void *wanted(const struct measured *m)
{
  struct bench_operands turned;
  void *c = malloc(m->o.bytes[BENCH_SECOND]);
  EXPECT(c && bench_turn(&m->c, m->o.array[BENCH_VALUES], &turned), "memory");
  struct shunt_problem p = bench_bind_turned(&m->g.p, turned.array);
  p.spmm.c.values = c;
  EXPECT((shunt_type_is_complex(p.spmm.compute) ? shunt_csr_spmm_complex_host(&p.spmm)
                                                : shunt_csr_spmm_host(&p.spmm)) == SHUNT_OK,
         "the twin's product");
  bench_operands_free(&turned);
  return c;
}

static void expect_call(struct measured *m, const char *when)
{
  void *want = wanted(m);
  forget_trace();
  memset(m->o.array[BENCH_SECOND], 0xff, m->o.bytes[BENCH_SECOND]);
  EXPECT(gpu_transposed(&m->g, m->gpu.stream) == SHUNT_OK, "%s: it is run", when);
  device_run();
  EXPECT(strcmp(device.trace, "ac") == 0, "%s: proof and gather, product, not \"%s\"", when,
         device.trace);
  EXPECT(want && memcmp(want, m->o.array[BENCH_SECOND], m->o.bytes[BENCH_SECOND]) == 0,
         "%s: C is right", when);
  free(want);
}

static void measures(const char *word)
{
  struct measured m;
  begin(&m, word);
  EXPECT(gpu_prepare_transposed(&m.g, &m.way), "prepared (%s)", m.way.note);
  EXPECT(strcmp(device.trace, "AfAf") == 0, "transposed and printed twice, not \"%s\"",
         device.trace);
  EXPECT(m.way.conversion_us >= 0 && m.g.longest > 0, "that is timed");
  expect_call(&m, "at first");
  EXPECT(device.longest == (int64_t)m.g.longest, "the longest row is known");
  memset(m.o.array[BENCH_VALUES], 0, m.o.bytes[BENCH_VALUES] / 2);
  expect_call(&m, "other values");
  EXPECT(device.changes == 0, "the pattern stays");
  for (int64_t i = 0; i < m.pattern.nnz; i++) { /* all of A in its last column */
    m.pattern.columns[i] = m.pattern.cols - 1;
    ((int32_t *)m.o.array[BENCH_COLUMNS])[i] = (int32_t)m.pattern.cols - 1;
  }
  expect_call(&m, "another pattern");
  EXPECT(device.changes == 1, "the change is seen");
  end(&m);
}

#define MEASURES(name, word)                                                                       \
  static void name(void)                                                                           \
  {                                                                                                \
    measures("spmm:csr:" word);                                                                    \
  }
MEASURES(single, "f32.f32.f32.f32:i32b0:m40n6k24z200:TN:rr:ld6.6:a1b0:alg0")
MEASURES(conjugated, "c64.c64.c64.c64:i32b0:m40n6k24z200:HN:rr:ld6.6:a1b0:alg0")
MEASURES(real_conjugated, "f64.f64.f64.f64:i32b0:m40n6k24z200:HN:rc:ld6.40:a2b0:alg0")

/* A way that cannot run says why. */
static void refused(void)
{
  struct measured m;
  begin(&m, "spmm:csr:f32.f32.f32.f32:i32b0:m40n6k24z200:TN:rr:ld6.6:a1b0:alg0");
  device.count = 0;
  EXPECT(!gpu_prepare_transposed(&m.g, &m.way) && m.way.note[0], "no device: \"%s\"", m.way.note);
  device.count = 1;
  end(&m);
}

int main(void)
{
  check_case("fp32, A^T", NULL, single);
  check_case("complex128, A^H", NULL, conjugated);
  check_case("fp64, A^H", NULL, real_conjugated);
  check_case("without a device", NULL, refused);
  return check_finish();
}
