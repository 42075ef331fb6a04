/* host.c: the engine that runs anywhere: the host twin with one thread
   ("before") and the host engine with all of them ("after").  */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "backend/tool/bench/bench.h"
#include "conv/csr/csr_conv.h"
#include "kernels/csr/csr_kernels.h"

static int thread_count(void)
{
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* "model name : ..." of /proc/cpuinfo. */
static void processor_name(char *out, size_t bytes)
{
  FILE *from = fopen("/proc/cpuinfo", "r");
  char line[256];
  snprintf(out, bytes, "this machine's processor");
  while (from && fgets(line, sizeof line, from)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(out, bytes, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
    break;
  }
  if (from) fclose(from);
}

static bool host_open(struct bench_machine *m, char *why, size_t bytes)
{
  (void)why;
  (void)bytes;
  *m = (struct bench_machine){.engine = "host", .threads = thread_count()};
  processor_name(m->name, sizeof m->name);
  m->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  return true;
}

static void host_close(void) {}

static double now_us(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* A case on the host. */
struct host_case {
  struct shunt_problem p, checked; /* as it is given; with op(A) by rows */
  void *transpose;                 /* room for op(A) where it is the transpose of A */
  void *result, *before;           /* the result's array; its content before any call */
  size_t bytes;                    /* of it */
  bool quick;
};

typedef shunt_status (*solver)(const struct host_case *h);

/* op(A) by rows, made anew in each product, as by a program that keeps nothing of A. */
static shunt_status by_rows(const struct host_case *h, struct shunt_spmm *s)
{
  const struct shunt_csr *a = &h->p.spmm.a;
  struct shunt_transposed t;
  *s = h->p.spmm;
  if (!shunt_problem_transposed(&h->p)) return SHUNT_OK;
  if (!shunt_transposed_lay_out(a, false, h->transpose, &t)) return SHUNT_E_UNSUPPORTED;
  s->a = shunt_transposed_csr(a, &t, t.values);
  return shunt_csr_transpose_host(a, h->p.op_a == 'H', &t);
}

static shunt_status solve_one(const struct host_case *h)
{
  struct shunt_spmm s;
  if (h->p.op == SHUNT_SDDMM) return shunt_csr_sddmm_host(&h->p.sddmm);
  const shunt_status r = by_rows(h, &s);
  return r == SHUNT_OK ? shunt_csr_spmm_host(&s) : r;
}

static shunt_status solve_parallel(const struct host_case *h)
{
  struct shunt_spmm s;
  const shunt_status r = by_rows(h, &s);
  return r == SHUNT_OK ? shunt_csr_spmm_parallel_host(&s) : r;
}

/* Median of several runs; short ones are repeated until a sample lasts 2 ms. */
static double time_solver(solver solve, const struct host_case *h, double first_us)
{
  double sample[7];
  int samples = first_us > 1e6 || h->quick ? 3 : 7;
  int repeats = first_us < 2000 ? (int)(2000 / (first_us + 1)) + 1 : 1;
  for (int i = 0; i < samples; i++) {
    double start = now_us();
    for (int j = 0; j < repeats; j++) solve(h);
    sample[i] = (now_us() - start) / repeats;
  }
  return bench_median(sample, samples);
}

/* Runs once from the first state of the result, checks, then times. */
static void measure_way(struct bench_case *c, struct bench_way *w, solver solve,
                        const struct host_case *h)
{
  struct bench_error error;
  memcpy(h->result, h->before, h->bytes);
  double start = now_us();
  shunt_status status = solve(h);
  double first_us = now_us() - start;
  if (status != SHUNT_OK || !bench_check_host(&h->checked, h->before, &error)) {
    snprintf(w->note, sizeof w->note, "%s",
             status == SHUNT_E_UNSUPPORTED ? "not built for this operation and these types"
             : status == SHUNT_OK || status == SHUNT_E_MEMORY ? "out of memory"
                                                              : "failed");
    return;
  }
  w->ran = true;
  w->max_error = error.largest;
  w->error_ratio = error.ratio;
  w->right = error.ratio <= 1;
  w->timing = "wall";
  c->checked_rows = error.rows;
  w->us = time_solver(solve, h, first_us);
}

/* False: out of memory. */
static bool measure_ways(struct bench_case *c, const struct bench_operands *o, struct host_case *h)
{
  const bool turned = shunt_problem_transposed(&h->p);
  const int result = bench_result_array(&h->p);
  h->result = o->array[result];
  h->bytes = o->bytes[result];
  h->before = malloc(h->bytes + 1);
  if (turned) h->transpose = aligned_alloc(256, shunt_transposed_bytes(&h->p.spmm.a, false) + 256);
  const bool good = h->before && (h->transpose || !turned);
  if (good) {
    memcpy(h->before, h->result, h->bytes);
    measure_way(c, bench_add_way(c, "host-one", true), solve_one, h);
    if (h->p.op == SHUNT_SPMM) /* SDDMM has the twin alone */
      measure_way(c, bench_add_way(c, "host-parallel", true), solve_parallel, h);
  } else {
    tool_say("%s: out of memory", c->matrix);
  }
  free(h->before);
  free(h->transpose);
  return good;
}

static bool host_measure(struct bench_case *c, const struct bench_options *o)
{
  struct bench_operands operands, turned;
  if (!bench_operands_make(c, o->seed, &operands)) return false;
  bool good = bench_turn(c, operands.array[BENCH_VALUES], &turned);
  if (good) {
    struct host_case h = {.p = bench_bind(c, operands.array), .quick = o->quick};
    h.checked = bench_bind_turned(&h.p, turned.array);
    good = measure_ways(c, &operands, &h);
  }
  bench_operands_free(&turned);
  bench_operands_free(&operands);
  return good;
}

const struct bench_engine bench_host_engine = {host_open, host_measure, host_close};
