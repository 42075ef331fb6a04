#include "backend/cusparse/measure.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "backend/log/log_measure.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/device_memory.h"

enum { SAMPLES = 32, WISHES = 256 };
enum state { FREE, HELD, UNDER_WAY }; /* held: by one thread */

enum { BEGIN, DONE, ORIGINAL_BEGIN, ORIGINAL_DONE, EVENTS };

/* Events of one context, which nobody else ever has. */
struct shunt_sample {
  atomic_int state;
  const struct shunt_context *context; /* NULL: no events yet */
  cudaEvent_t event[EVENTS];
  cudaStream_t stream;
  const struct shunt_problem *problem;
  uint64_t key;
  struct shunt_decision *decision;
  double set_aside, host_us;
};
static struct shunt_sample samples[SAMPLES];

/* Hashes of problems whose next call is to be timed. */
static _Atomic uint64_t wishes[WISHES];

static void wish_for(const struct shunt_problem *p)
{
  const uint64_t hash = shunt_problem_hash(p);
  atomic_store(&wishes[hash % WISHES], hash);
}

static bool is_wished_for(const struct shunt_problem *p)
{
  uint64_t hash = shunt_problem_hash(p);
  return atomic_compare_exchange_strong(&wishes[hash % WISHES], &hash, 0);
}

static double now(void)
{
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Does the user have a log of cuSPARSE's calls, which would tell of more than the program made? */
static bool is_logged(void)
{
  static const char *const names[] = {"CUSPARSE_LOG_LEVEL", "CUSPARSE_LOG_MASK"};
  for (int i = 0; i < 2; i++) {
    const char *value = getenv(names[i]);
    if (value && *value && *value != '0') return true;
  }
  return false;
}

/* ---- what is under way ------------------------------------------------------------------- */

/* Microseconds from this event to the next. */
static bool elapsed(const struct shunt_sample *s, int from, double *us)
{
  float ms;
  if (SHUNT_CUDA(cudaEventElapsedTime(&ms, s->event[from], s->event[from + 1])) != SHUNT_OK)
    return false;
  *us = 1e3 * (double)ms;
  return true;
}

static bool record(struct shunt_sample *s, int i)
{
  return SHUNT_CUDA(cudaEventRecord(s->event[i], s->stream)) == SHUNT_OK;
}

/* Tells the log, if the device has come so far. */
static void collect(struct shunt_sample *s)
{
  double ours, original;
  const cudaError_t passed = cudaEventQuery(s->event[ORIGINAL_DONE]);
  if (passed == cudaErrorNotReady) {
    atomic_store(&s->state, UNDER_WAY);
    return;
  }
  if (shunt_from_cuda(passed) == SHUNT_OK && elapsed(s, BEGIN, &ours) &&
      elapsed(s, ORIGINAL_BEGIN, &original)) {
    shunt_log_sampled(s->decision, original, ours);
    shunt_measure_end(s->set_aside, s->host_us + original);
  }
  atomic_store(&s->state, FREE);
}

static void collect_all(const struct shunt_context *context)
{
  for (int i = 0; i < SAMPLES; i++) {
    int expected = UNDER_WAY;
    struct shunt_sample *s = &samples[i];
    if (atomic_load_explicit(&s->state, memory_order_relaxed) == UNDER_WAY &&
        s->context == context && atomic_compare_exchange_strong(&s->state, &expected, HELD))
      collect(s);
  }
}

/* ---- a sample ---------------------------------------------------------------------------- */

static bool make_events(struct shunt_sample *s, const struct shunt_context *context)
{
  if (s->context) return true;
  for (int i = 0; i < EVENTS; i++)
    if (SHUNT_CUDA(cudaEventCreate(&s->event[i])) != SHUNT_OK) {
      while (i > 0) cudaEventDestroy(s->event[--i]);
      return false;
    }
  s->context = context;
  return true;
}

/* One that is free, with events of this context; NULL: none is. */
static struct shunt_sample *take(const struct shunt_context *context)
{
  for (int i = 0; i < SAMPLES; i++) {
    struct shunt_sample *s = &samples[i];
    int expected = FREE;
    if (!atomic_compare_exchange_strong(&s->state, &expected, HELD)) continue;
    if ((!s->context || s->context == context) && make_events(s, context)) return s;
    atomic_store(&s->state, FREE);
  }
  return NULL;
}

struct shunt_sample *shunt_sample_begin(const struct shunt_problem *p, cudaStream_t stream)
{
  if (!shunt_measure_wanted() || p->batches != 1 || is_logged()) return NULL;
  const struct shunt_context *context = shunt_context_find();
  if (!context || shunt_capture_of(stream).active) return NULL;
  const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  collect_all(context);
  struct shunt_sample *s = is_wished_for(p) ? take(context) : NULL;
  if (s) {
    s->stream = stream, s->problem = p;
    if (!record(s, BEGIN)) {
      shunt_sample_drop(s);
      s = NULL;
    }
  }
  shunt_leave_relaxed(mode);
  return s;
}

void shunt_sample_drop(struct shunt_sample *s)
{
  if (s) atomic_store(&s->state, FREE);
}

static size_t bytes_of_result(const struct shunt_problem *p)
{
  if (p->op == SHUNT_SDDMM) return (size_t)p->sddmm.c.nnz * shunt_type_size(p->sddmm.c.value_type);
  const struct shunt_dense *c = &p->spmm.c;
  const int64_t last = (c->rows - 1) * c->row_stride + (c->cols - 1) * c->col_stride;
  return (size_t)(last + 1) * shunt_type_size(c->type);
}

/* Twice as much, and a tenth of the device: the program may be about to want the rest. */
static bool has_memory(const struct shunt_context *context, size_t bytes)
{
  size_t there, all;
  return SHUNT_CUDA(cudaMemGetInfo(&there, &all)) == SHUNT_OK &&
         there / 2 >= bytes + (size_t)context->memory_bytes / 20;
}

/* Enqueues the original between the last two events; false: it is not to be counted. */
static bool run_original(struct shunt_sample *s, bool first,
                         const struct shunt_original_into *original)
{
  void *memory = NULL;
  const size_t bytes = bytes_of_result(s->problem);
  if (!has_memory(s->context, bytes) ||
      shunt_device_allocate(&memory, bytes, s->context->pool, s->stream) != SHUNT_OK)
    return false;
  const bool good = (!first || original->run(original->context, memory) == 0) &&
                    record(s, ORIGINAL_BEGIN) && original->run(original->context, memory) == 0 &&
                    record(s, ORIGINAL_DONE);
  shunt_device_free(memory, s->stream);
  return good;
}

static atomic_bool loaded; /* the original's code, by a sample */

/* What a sample is expected to take of host and device. */
static double expected_us(uint64_t key, double original_us)
{
  const double host_us = 100, kernel_us = 2000, library_us = 40000;
  if (!atomic_load(&loaded)) return library_us + 2 * original_us;
  return shunt_measure_count(key) > 0 ? host_us + original_us : kernel_us + 2 * original_us;
}

void shunt_sample_end(struct shunt_sample *s, const struct shunt_problem *p,
                      struct shunt_decision *decision, double original_us,
                      const struct shunt_original_into *original)
{
  const uint64_t key = (uint64_t)(uintptr_t)decision;
  const double expected = expected_us(key, original_us);
  const bool due = decision && shunt_measure_wanted() && shunt_measure_due(key, expected);
  if (due && !s) wish_for(p);
  if (!s) return;
  const double start = now();
  s->decision = decision;
  s->set_aside = expected;
  s->key = key;
  const bool done = due && record(s, DONE);
  const int count = done ? shunt_measure_begin(s->key, s->set_aside) : 0;
  if (count == 0) {
    shunt_sample_drop(s);
    return;
  }
  atomic_store(&loaded, true);
  const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  const bool good = run_original(s, count == 1, original);
  shunt_leave_relaxed(mode);
  s->host_us = now() - start;
  if (good) {
    atomic_store(&s->state, UNDER_WAY);
    return;
  }
  shunt_measure_end(s->set_aside, s->host_us);
  shunt_sample_drop(s);
}
