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

typedef shunt_status (*solver)(const struct shunt_problem *p);

static shunt_status solve_one(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM ? shunt_csr_spmm_host(&p->spmm) : shunt_csr_sddmm_host(&p->sddmm);
}

static shunt_status solve_parallel(const struct shunt_problem *p)
{
  return shunt_csr_spmm_parallel_host(&p->spmm);
}

/* Median of several runs; short ones are repeated until a sample lasts 2 ms. */
static double time_solver(solver solve, const struct shunt_problem *p, bool quick, double first_us)
{
  double sample[7];
  int samples = first_us > 1e6 || quick ? 3 : 7;
  int repeats = first_us < 2000 ? (int)(2000 / (first_us + 1)) + 1 : 1;
  for (int i = 0; i < samples; i++) {
    double start = now_us();
    for (int j = 0; j < repeats; j++) solve(p);
    sample[i] = (now_us() - start) / repeats;
  }
  return bench_median(sample, samples);
}

/* Runs once from the first state of the result, checks, then times. */
static void measure_way(struct bench_case *c, struct bench_way *w, solver solve,
                        const struct shunt_problem *p, void *result, const void *before,
                        size_t bytes, bool quick)
{
  struct bench_error error;
  memcpy(result, before, bytes);
  double start = now_us();
  shunt_status status = solve(p);
  double first_us = now_us() - start;
  if (status != SHUNT_OK || !bench_check_host(p, before, &error)) {
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
  w->us = time_solver(solve, p, quick, first_us);
}

static bool host_measure(struct bench_case *c, const struct bench_options *o)
{
  struct bench_operands operands;
  if (!bench_operands_make(c, o->seed, &operands)) return false;
  struct shunt_problem p = bench_bind(c, operands.array);
  int result = bench_result_array(&p);
  size_t bytes = operands.bytes[result];
  void *before = malloc(bytes + 1);
  if (before) {
    memcpy(before, operands.array[result], bytes);
    measure_way(c, bench_add_way(c, "host-one", true), solve_one, &p, operands.array[result],
                before, bytes, o->quick);
    if (p.op == SHUNT_SPMM) /* SDDMM has the twin alone */
      measure_way(c, bench_add_way(c, "host-parallel", true), solve_parallel, &p,
                  operands.array[result], before, bytes, o->quick);
  } else {
    tool_say("%s: out of memory", c->matrix);
  }
  free(before);
  bench_operands_free(&operands);
  return before != NULL;
}

const struct bench_engine bench_host_engine = {host_open, host_measure, host_close};
