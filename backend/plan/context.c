#include "backend/plan/context.h"

#include <cuda.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cublas/cublaslt.h"
#include "backend/options/options.h"
#include "backend/plan/cache.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/leave.h"
#include "backend/plan/log.h"
#include "backend/plan/memory/budget.h"
#include "backend/plan/memory/device_memory.h"
#include "backend/plan/tune/tune_machine.h"

/* One slot per context seen.  Slots are filled in order and never emptied; when
   they run out (a program that resets its device again and again), new contexts
   go to the original library.  */
enum { MOST_CONTEXTS = 64 };
static _Atomic(struct shunt_context *) contexts[MOST_CONTEXTS];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint generation; /* raised in a forked child */

typedef CUresult (*context_id_function)(CUcontext, unsigned long long *);
static _Atomic(context_id_function) context_id;

static void forget_in_child(void)
{
  for (int i = 0; i < MOST_CONTEXTS; i++) atomic_store(&contexts[i], NULL);
  atomic_fetch_add(&generation, 1);
  pthread_mutex_init(&making, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
  pthread_atfork(NULL, NULL, forget_in_child);
}

/* cuCtxGetId through the runtime, so that nothing links against libcuda. */
static context_id_function find_context_id(void)
{
  context_id_function f = atomic_load_explicit(&context_id, memory_order_acquire);
  if (f) return f;
  void *symbol = NULL;
  enum cudaDriverEntryPointQueryResult found;
  if (SHUNT_CUDA(cudaGetDriverEntryPointByVersion("cuCtxGetId", &symbol, 12000, cudaEnableDefault,
                                                  &found)) != SHUNT_OK ||
      found != cudaDriverEntryPointSuccess)
    return NULL;
  f = (context_id_function)symbol;
  atomic_store_explicit(&context_id, f, memory_order_release);
  return f;
}

static bool current_context(context_id_function f, unsigned long long *id)
{
  return f && f(NULL, id) == CUDA_SUCCESS;
}

static struct shunt_context *find(unsigned long long id)
{
  for (int i = 0; i < MOST_CONTEXTS; i++) {
    struct shunt_context *context = atomic_load_explicit(&contexts[i], memory_order_acquire);
    if (!context) return NULL;
    if (context->id == id) return context;
  }
  return NULL;
}

struct shunt_context *shunt_context_find(void)
{
  unsigned long long id;
  context_id_function f = atomic_load_explicit(&context_id, memory_order_acquire);
  return current_context(f, &id) ? find(id) : NULL;
}

static void destroy(struct shunt_context *context)
{
  if (!context) return;
  shunt_cache_free(context->cache);
  shunt_budget_close(context->budget);
  if (context->pool) cudaMemPoolDestroy(context->pool);
  free(context);
}

/* The table of this GPU's costs.  Of a file that the user named is said why it does not count; of a
   calibrated one shunt doctor says so.  */
static void know_costs(struct shunt_context *context)
{
  const char *path = shunt_options()->costs;
  char gpu[64] = "", signature[SHUNT_SIGNATURE];
  const bool known = shunt_device_name(context->ordinal, gpu, sizeof gpu);
  const struct shunt_costs_here here = {
      .gpu = known ? gpu : NULL,
      .multiprocessors = context->device.multiprocessors,
      .signature = shunt_machine_signature(context->ordinal, signature) ? signature : NULL,
      .named = path};
  const struct shunt_costs_refused refused = shunt_costs_find(&here, &context->costs);
  context->machine.costs = &context->costs;
  if (refused.named)
    fprintf(stderr, "shunt: SHUNT_COSTS=%s is not used: %s\n", path, refused.named);
}

/* The report names that of the first device. */
static void tell_costs(const struct shunt_context *context)
{
  char text[SHUNT_COSTS_TEXT];
  if (!shunt_options()->report[0]) return;
  shunt_costs_describe(&context->costs, text);
  shunt_log_costs(text);
}

static struct shunt_context *create(unsigned long long id)
{
  struct shunt_context *context = SHUNT_TRY_OR(NULL, calloc(1, sizeof *context));
  if (!context) return NULL;
  context->id = id;
  shunt_lazy_start(&context->lazy, shunt_cublaslt_is_loaded());
  shunt_status s = SHUNT_CUDA(cudaGetDevice(&context->ordinal));
  if (s == SHUNT_OK)
    s = shunt_device_read(context->ordinal, &context->device, &context->memory_bytes);
  if (s == SHUNT_OK) {
    context->device.multiprocessors =
        shunt_leave_multiprocessors(context->device.multiprocessors, shunt_options()->leave);
    know_costs(context);
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {cudaMemLocationTypeDevice, context->ordinal}};
    s = SHUNT_CUDA(cudaMemPoolCreate(&context->pool, &props));
  }
  if (s == SHUNT_OK) {
    int64_t most = shunt_options()->cache_bytes;
    s = most >= 0 ? shunt_cache_make(&context->cache, context->pool, most, most)
                  : shunt_cache_make(&context->cache, context->pool, context->memory_bytes / 10,
                                     context->memory_bytes / 4);
  }
  if (s == SHUNT_OK) {
    unsigned char uuid[16];
    if (shunt_device_uuid(context->ordinal, uuid))
      context->budget = shunt_budget_open("/dev/shm", uuid);
    shunt_cache_share(context->cache, context->budget);
    return context;
  }
  destroy(context);
  return NULL;
}

struct shunt_context *shunt_context_make(void)
{
  unsigned long long id;
  if (!current_context(find_context_id(), &id)) return NULL;
  struct shunt_context *context = find(id);
  if (context) return context;
  /* The one lock that is held over CUDA calls: at most once per context, and
     never on the way of SpMM or SDDMM.  */
  pthread_mutex_lock(&making);
  context = find(id);
  for (int i = 0; !context && i < MOST_CONTEXTS; i++) {
    if (atomic_load(&contexts[i])) continue;
    const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
    context = create(id);
    if (context) {
      atomic_store_explicit(&contexts[i], context, memory_order_release);
      shunt_tune_machine(context->ordinal);
      tell_costs(context);
    }
    shunt_leave_relaxed(mode);
    break;
  }
  pthread_mutex_unlock(&making);
  return context;
}

void shunt_context_know_library(struct shunt_context *context, const char *library_path)
{
  if (!library_path || context->library_known) return;
  pthread_mutex_lock(&making);
  if (!context->library_known && strlen(library_path) < sizeof context->library_path)
    strcpy(context->library_path, library_path);
  context->library_known = true;
  pthread_mutex_unlock(&making);
}

static void open_gemm(struct shunt_context *context)
{
  pthread_mutex_lock(&making);
  if (!context->gemm_tried) {
    context->gemm_tried = true;
    const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
    atomic_store_explicit(&context->gemm, shunt_cublaslt_open(context->library_path),
                          memory_order_release);
    shunt_leave_relaxed(mode);
  }
  pthread_mutex_unlock(&making);
}

void shunt_context_initialize(struct shunt_context *context, uint32_t set)
{
  for (int i = 0; i < SHUNT_LAZY_PARTS; i++) {
    if (!shunt_lazy_pending(&context->lazy, set & shunt_lazy_bit(i))) continue;
    if (i != SHUNT_LAZY_COPIES) open_gemm(context);
    shunt_lazy_done(&context->lazy, i);
  }
}

bool shunt_context_release_memory(void)
{
  struct shunt_context *context = shunt_context_find();
  return context && shunt_cache_release_all(context->cache) > 0;
}

bool shunt_context_await_others(int round)
{
  struct shunt_context *context = shunt_context_find();
  return context && context->budget && shunt_budget_await(context->budget, round);
}

void shunt_context_forget_memory(const void *memory)
{
  struct shunt_context *context = memory ? shunt_context_find() : NULL;
  const void *base;
  size_t bytes;
  if (context && shunt_device_range(memory, &base, &bytes))
    shunt_cache_forget_range(context->cache, base, bytes);
}

struct shunt_capture shunt_capture_of(cudaStream_t stream)
{
  enum cudaStreamCaptureStatus status;
  if (SHUNT_CUDA(cudaStreamIsCapturing(stream, &status)) != SHUNT_OK)
    return (struct shunt_capture){true, true};
  return (struct shunt_capture){status != cudaStreamCaptureStatusNone,
                                status == cudaStreamCaptureStatusInvalidated};
}
