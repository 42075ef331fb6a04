/* test_measure.c: SHUNT_MEASURE=1 on a device that is a list of what was asked of it: which calls
   are timed both ways, in which order things are enqueued, what becomes of failures, and how much
   of the run it takes.  */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/cusparse/measure.h"
#include "backend/log/log_measure.h"
#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/fault.h"
#include "backend/plan/memory/device_memory.h"
#include "tests/unit/check.h"

/* ---- what is around ------------------------------------------------------------------- */

static struct {
  double us;      /* the clock */
  double began;   /* when the first question was asked */
  char done[256]; /* a letter each: 0 to 9 events, M memory, O the original, F freed */
  int events;     /* made */
  bool passed;    /* what is enqueued is done */
  bool capturing, no_memory, fails, no_context;
  int64_t there; /* bytes free */
  int sampled;
  double original_us, ours_us;
} world;

static struct shunt_options options = {.report = "report", .measure = true};
static struct shunt_context context = {.memory_bytes = 1000000};
static char decisions[1024]; /* one for each width; nobody looks inside */

static void note(char what)
{
  const size_t n = strlen(world.done);
  if (n + 1 < sizeof world.done) world.done[n] = what, world.done[n + 1] = 0;
}

const struct shunt_options *shunt_options(void)
{
  return &options;
}
int clock_gettime(clockid_t clock, struct timespec *t)
{
  (void)clock;
  t->tv_sec = (time_t)(world.us / 1e6);
  t->tv_nsec = (long)(1e3 * (world.us - 1e6 * (double)t->tv_sec));
  return 0;
}
struct shunt_context *shunt_context_find(void)
{
  return world.no_context ? NULL : &context;
}
struct shunt_capture shunt_capture_of(cudaStream_t stream)
{
  return (void)stream, (struct shunt_capture){world.capturing, false};
}
int shunt_fault_armed;
int shunt_fault_count(const char *call, const char *file, int line)
{
  return (void)call, (void)file, (void)line, 0;
}
shunt_status shunt_device_allocate(void **memory, size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream)
{
  (void)pool, (void)stream, (void)bytes;
  if (world.no_memory) return SHUNT_E_MEMORY;
  note('M');
  *memory = &world;
  return SHUNT_OK;
}
shunt_status shunt_device_free(void *memory, cudaStream_t stream)
{
  (void)stream;
  note('F');
  return memory == &world ? SHUNT_OK : SHUNT_E_CUDA;
}
double shunt_process_seconds(void)
{
  return 0;
}
void shunt_log_sampled(struct shunt_decision *d, double original_us, double ours_us)
{
  const char *at = (const char *)(const void *)d;
  world.sampled += at >= decisions && at < decisions + sizeof decisions;
  world.original_us = original_us;
  world.ours_us = ours_us;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
  return *event = (cudaEvent_t)(uintptr_t)(1 + world.events++), cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  return (void)event, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  (void)stream;
  note((char)('0' + ((uintptr_t)event - 1) % 4));
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event)
{
  return (void)event, world.passed ? cudaSuccess : cudaErrorNotReady;
}
/* 0.02 ms between the first two, 0.25 between the others. */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
  (void)to;
  return *ms = ((uintptr_t)from - 1) % 4 == 0 ? 0.02f : 0.25f, cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *there, size_t *all)
{
  return *there = (size_t)world.there, *all = 1000000, cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
  return (void)mode, cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}

static int run_original(void *unused, void *memory)
{
  (void)unused;
  note('O');
  return world.fails || memory != &world;
}

/* ---- calls ------------------------------------------------------------------------------ */

static struct shunt_problem problem_of(int64_t columns)
{
  struct shunt_problem p = {.op = SHUNT_SPMM, .op_a = 'N', .op_b = 'N', .batches = 1};
  p.spmm.a.rows = p.spmm.a.cols = 100;
  p.spmm.b.cols = columns;
  p.spmm.c = (struct shunt_dense){
      .rows = 100, .cols = columns, .row_stride = columns, .col_stride = 1, .type = SHUNT_F32};
  return p;
}

/* A call that is taken, and takes 0.1 ms of the host; true: it was timed, or is being timed. */
static bool call(const struct shunt_problem *p)
{
  struct shunt_decision *d = (struct shunt_decision *)(void *)&decisions[p->spmm.b.cols];
  const struct shunt_original_into original = {run_original, NULL};
  world.done[0] = 0;
  struct shunt_sample *s = shunt_sample_begin(p, NULL);
  shunt_sample_end(s, p, d, 200, &original);
  world.us += 100;
  return strchr(world.done, 'O') != NULL;
}

static void usual(void)
{
  world.passed = true;
  world.capturing = world.no_memory = world.fails = world.no_context = false;
  world.there = 900000;
  world.us += 1e9; /* time enough for what follows */
}

/* Calls until one is timed; -1: none of ten is. */
static int calls_until_timed(const struct shunt_problem *p)
{
  for (int i = 1; i <= 10; i++)
    if (call(p)) return i;
  return -1;
}

static void check_order(void)
{
  const struct shunt_problem p = problem_of(8);
  usual();
  shunt_measure_due(1, 0);
  world.began = world.us;
  usual();
  const int third = calls_until_timed(&p);
  check(third == 3 && strcmp(world.done, "01MO2O3F") == 0,
        "the second call is due, the third timed: events, memory, the original twice: %d %s", third,
        world.done);
  world.passed = false;
  const int later = calls_until_timed(&p);
  check(later > 1 && strcmp(world.done, "01MO2O3F") != 0 && strchr(world.done, '3') &&
            world.sampled == 0,
        "the next: once: %s; none is done", world.done);
  world.passed = true;
  const int before = world.sampled;
  call(&p);
  check(world.sampled == before + 2 && world.original_us > 249 && world.ours_us < 21,
        "both are collected later: %.0f and %.0f us", world.original_us, world.ours_us);
}

static void check_kinds(void)
{
  const struct shunt_problem p = problem_of(16);
  int timed = 0;
  for (int i = 0; i < 1000; i++) {
    usual();
    timed += call(&p);
  }
  check(timed >= 12 && timed <= 16, "%d of 1000 calls of a kind are timed", timed);
}

/* Calls one after the other, of kinds that never repeat: at most 1 % of the time goes to them. */
static void check_share(void)
{
  usual();
  int timed = 0;
  const double start = world.us;
  shunt_measure_end(0, 0.01 * (world.us - world.began)); /* all that was left */
  for (int i = 0; i < 20000; i++) {
    const struct shunt_problem p = problem_of(20 + i % 300);
    timed += call(&p);
  }
  const double took = timed * 250.0, share = took / (world.us - start);
  check(timed > 10 && share <= 0.01, "%d timed in %.1f s: %.2f %% of it", timed,
        1e-6 * (world.us - start), 100 * share);
}

/* Events cost a call of a graph's speed: none are recorded that no sample follows. */
static void check_patience(void)
{
  const struct shunt_problem p = problem_of(700);
  bool idle = true;
  usual();
  const double all = 0.01 * (world.us - world.began) + 400;
  shunt_measure_end(0, all); /* more than what was left */
  for (int i = 0; i < 100; i++) idle = !call(&p) && !world.done[0] && idle;
  check(idle, "a kind that is due waits for time without an event");
  shunt_measure_end(all, 0);
  check(calls_until_timed(&p) > 0, "and then it is timed");
}

/* The next call of the problem would be timed. */
static struct shunt_problem due_problem(int64_t columns)
{
  const struct shunt_problem p = problem_of(columns);
  usual();
  call(&p);
  call(&p);
  return p;
}

static void check_refusals(void)
{
  struct shunt_problem p = due_problem(500);
  world.capturing = true;
  check(!call(&p) && !world.done[0], "not while the stream is captured");
  usual();
  world.no_context = true;
  check(!call(&p) && !world.done[0], "not without a context");
  usual();
  p.batches = 2;
  check(!call(&p) && !world.done[0], "not with batches");
  p.batches = 1;
  options.measure = false;
  check(!call(&p) && !world.done[0], "not without the option");
  options.measure = true;
  options.report[0] = 0;
  check(!call(&p) && !world.done[0], "not without a report");
  options.report[0] = 'r';
  setenv("CUSPARSE_LOG_LEVEL", "5", 1);
  check(!call(&p) && !world.done[0], "not where cuSPARSE keeps a log");
  unsetenv("CUSPARSE_LOG_LEVEL");
  check(call(&p), "and then it is");
}

static void check_failures(void)
{
  struct shunt_problem p = due_problem(400);
  call(&p); /* what is under way is collected by the next */
  p = due_problem(401);
  const int before = world.sampled;
  world.there = 100000;
  check(!call(&p) && strcmp(world.done, "01") == 0, "where memory is short: %s", world.done);
  p = due_problem(402);
  world.no_memory = true;
  check(!call(&p) && strcmp(world.done, "01") == 0, "without memory: %s", world.done);
  p = due_problem(403);
  world.fails = true;
  check(call(&p) && strcmp(world.done, "01MOF") == 0, "an original that fails: %s", world.done);
  check(world.sampled == before, "nothing is counted of these");
  for (int i = 0; i < 40; i++) {
    p = due_problem(600 + i);
    struct shunt_sample *s = shunt_sample_begin(&p, NULL);
    if (i == 39) check(s != NULL, "after 40 calls that were not taken there is still one free");
    shunt_sample_drop(s);
  }
}

int main(void)
{
  check_order();
  check_kinds();
  check_refusals();
  check_failures();
  check_patience();
  check_share();
  return check_finish();
}
