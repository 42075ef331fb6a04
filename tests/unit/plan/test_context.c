/* test_context.c: what is kept of a CUDA context: made once, beside another thread's capture,
   found by the context's id, and by no forked child.  The runtime is cache_runtime.h's.  */
#define _GNU_SOURCE /* setenv */
#include <cuda.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cublas/cublaslt.h"
#include "backend/options/user_folder.h"
#include "backend/plan/context.h"
#include "backend/plan/tune/tune_machine.h"
#include "tests/unit/check.h"
#include "tests/unit/plan/cache_runtime.h"

/* ---- what is around ------------------------------------------------------------------------- */

static unsigned long long current = 1; /* the context */
static bool no_device, no_pool;
static int pools, asked_machine, opened;
static size_t range_bytes;

static CUresult context_id(CUcontext c, unsigned long long *id)
{
  return (void)c, *id = current, current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
  CUresult (*const known)(CUcontext, unsigned long long *) = context_id;
  (void)version, (void)flags;
  memcpy(f, &known, sizeof *f);
  *found = strcmp(name, "cuCtxGetId") == 0 ? cudaDriverEntryPointSuccess
                                           : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device)
{
  return *device = 0, no_device ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr what, int device)
{
  (void)what, (void)device;
  return *value = 90, cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
  UNSAFE();
  (void)props;
  if (no_pool) return cudaErrorMemoryAllocation;
  pools++;
  return *pool = NULL, cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  return (void)pool, cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
  return (void)s, *status = cudaStreamCaptureStatusNone, cudaSuccess;
}
bool shunt_device_uuid(int ordinal, unsigned char uuid[16])
{
  return (void)ordinal, (void)uuid, false; /* no table of processes */
}
bool shunt_device_range(const void *p, const void **base, size_t *bytes)
{
  *base = p, *bytes = range_bytes;
  return range_bytes > 0;
}
void shunt_tune_machine(int device)
{
  (void)device;
  asked_machine++;
}
bool shunt_device_name(int ordinal, char *name, int size)
{
  return (void)ordinal, snprintf(name, (size_t)size, "NVIDIA H200") > 0;
}
bool shunt_machine_signature(int device, char text[SHUNT_SIGNATURE])
{
  return (void)device, snprintf(text, SHUNT_SIGNATURE, "here") > 0;
}
void shunt_log_costs(const char *text)
{
  (void)text;
}
bool shunt_cublaslt_is_loaded(void)
{
  return false;
}
struct shunt_cublaslt *shunt_cublaslt_open(const char *library_path)
{
  (void)library_path;
  opened += !disturbs();
  return NULL;
}

/* ---- cases -------------------------------------------------------------------------------- */

static const char *costs_file(const char *text)
{
  static char path[64];
  snprintf(path, sizeof path, "/tmp/shunt-costs.%ld", (long)getpid());
  FILE *f = fopen(path, "w");
  if (f) fputs(text, f), fclose(f);
  return path;
}

static void test_made(void)
{
  check(shunt_context_find() == NULL, "nothing is kept of a context at first");
  captured_elsewhere = true;
  no_pool = true;
  check(shunt_context_make() == NULL && shunt_context_find() == NULL, "a failure leaves nothing");
  no_pool = false, no_device = true;
  check(shunt_context_make() == NULL, "wherever it comes");
  no_device = false;
  struct shunt_context *context = shunt_context_make();
  check(context != NULL && disturbed == 0,
        "made beside another thread's capture: %d calls disturb it", disturbed);
  if (!context) return;
  check(capture_mode == cudaStreamCaptureModeGlobal, "and the thread's own mode is as before");
  check(shunt_context_find() == context && shunt_context_make() == context && asked_machine == 1,
        "once");
  shunt_context_initialize(context, ~(uint32_t)0);
  shunt_context_initialize(context, ~(uint32_t)0);
  check(opened == 1 && disturbed == 0 && !context->gemm,
        "cuBLASLt is looked for once, beside it, too");
  check(!shunt_context_release_memory(), "there is nothing to give back");
  current = 2;
  check(shunt_context_find() == NULL, "another context is another");
  snprintf(options.costs, sizeof options.costs, "%s", costs_file("# shunt costs 1 there\n"));
  struct shunt_context *second = shunt_context_make();
  check(second && second != context && second->id == 2, "with its own");
  check(context->machine.costs == &context->costs &&
            strncmp(context->costs.from, "carried over", 12) == 0 &&
            strcmp(second->costs.from, context->costs.from) == 0,
        "with the table of its GPU, as another machine's file does not count");
  costs_file("# shunt costs 1 here\ncommon launch 3\n");
  current = 3;
  struct shunt_context *third = shunt_context_make();
  check(third && third->machine.costs->ours.common.launch == 3, "the user's does");
  unlink(options.costs);
  options.costs[0] = 0;
  current = 0;
  check(shunt_context_find() == NULL && shunt_context_make() == NULL, "none without a context");
  current = 1;
  check(shunt_context_find() == context, "the first is as it was");
  captured_elsewhere = false;
}

static void test_forgotten(void)
{
  struct shunt_lookup l;
  static char memory[3];
  const struct shunt_key key = {.columns = memory, .values = memory + 1, .rows = 8};
  struct shunt_context *context = shunt_context_find();
  for (int i = 0; i < 2; i++) shunt_cache_look_up(context->cache, &key, &l);
  range_bytes = 0;
  shunt_context_forget_memory(memory);
  shunt_context_forget_memory(NULL);
  shunt_cache_look_up(context->cache, &key, &l);
  check(l.calls == 3, "memory that is not the device's is none of ours");
  range_bytes = sizeof memory;
  shunt_context_forget_memory(memory);
  shunt_cache_look_up(context->cache, &key, &l);
  check(l.calls == 1, "matrices in memory that is freed are forgotten");
}

static void test_fork(void)
{
  int status = 1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit(shunt_context_find() != NULL);
  waitpid(child, &status, 0);
  check(status == 0, "a forked child finds none of its parent's");
}

/* What shunt calibrate left for this machine, in the user's folder; us of a launch there. */
static double calibrated_launch(const char *path, int multiprocessors, unsigned long long context)
{
  FILE *f = fopen(path, "w");
  if (!f) return 0;
  fprintf(f, "# shunt costs 1 here\ncommon launch 4\nrates multiprocessors %d\n", multiprocessors);
  fclose(f);
  current = context;
  const struct shunt_context *made = shunt_context_make();
  return made ? made->machine.costs->ours.common.launch : 0;
}

static void test_calibrated(void)
{
  char folder[PATH_MAX], path[PATH_MAX];
  if (!check(shunt_user_folder(folder) && !shunt_user_folder_make(folder) &&
                 shunt_costs_calibrated_path("NVIDIA H200", path),
             "a user's folder"))
    return;
  check(calibrated_launch(path, 90, 20) == 4, "the calibrated table counts");
  check(calibrated_launch(path, 132, 21) == 2, "that of the whole GPU not for a part of it");
  current = 1;
  unlink(path);
  rmdir(folder);
}

int main(void)
{
  char cache[] = "/tmp/context-cache.XXXXXX";
  if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) != 0) return 99;
  test_made();
  test_calibrated();
  test_forgotten();
  test_fork();
  rmdir(cache);
  return check_finish();
}
