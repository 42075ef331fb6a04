/* memory.c: a program's allocations reach the runtime and the driver it is linked to.

     memory           preloaded, or alone: arguments, answers and errors are handed on, once each
     -DLOCAL          opens memory.so, RTLD_LOCAL, which is this file with -Dmain=run, and runs that
     -DOURSELVES      backend/cusparse/allocations.c is in this program, with a stand-in for the
                      rest of Shunt: memory that is given back is told of first, and an allocation
                      that failed is tried again if Shunt gave something back, the runtime's last
                      error being what it would have been.  A repeated question costs at most 500
                      ns at best.
                      With SHUNT_DISABLE=1 none of this.
     memory N         (ourselves) the N-th allocation of Shunt's own fails
     memory direct    fails unless the originals return to this program: Shunt is switched off, or
                      not there  */
#define _GNU_SOURCE /* dladdr */
#ifdef LOCAL
#include <dlfcn.h>
#include <string.h>

int main(void)
{
  int (*run)(int, char **);
  void *library = dlopen("./memory.so", RTLD_NOW | RTLD_LOCAL), *symbol;
  if (!library || !(symbol = dlsym(library, "run"))) return 1;
  memcpy(&run, &symbol, sizeof run);
  return run(0, NULL);
}
#else

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/loader/fake_cuda.h"

static int failures;
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) failures++, printf("line %d: not %s\n", __LINE__, #condition);               \
  } while (0)

/* ---- Shunt's side ------------------------------------------------------------------------ */

static int releases, forgotten;
static bool has_memory;
static const void *last_forgotten;
static int frees_before; /* those that the originals had seen when we were told */

#ifdef OURSELVES
#include "backend/options/disable.h"
#include "backend/plan/context.h"
#include "backend/plan/fault.h"

_Atomic signed char shunt_disabled_state;
static bool disable;
bool shunt_disabled_read(void)
{
  shunt_disabled_state = disable ? 1 : -1;
  return disable;
}

bool shunt_context_release_memory(void)
{
  const bool had = has_memory;
  releases++;
  has_memory = false;
  return had;
}

/* Other processes have given back their memory after so many rounds. */
static int rounds, waited;
bool shunt_context_await_others(int round)
{
  waited += round < rounds;
  return round < rounds;
}

void shunt_context_forget_memory(const void *memory)
{
  forgotten++;
  last_forgotten = memory;
  frees_before = fake_runtime.frees + fake_driver.frees;
}

/* `made` and `tried` of the original after an allocation that failed. */
static void try_again(cudaError_t (*allocate)(void), bool has, int tries, cudaError_t wanted)
{
  fake_runtime = (struct fake_calls){.to_fail = 1, .failure = cudaErrorMemoryAllocation};
  has_memory = has;
  releases = 0;
  EXPECT(allocate() == wanted);
  EXPECT(fake_runtime.allocations == tries && releases == 1);
  EXPECT(cudaGetLastError() == wanted);
}
static void try_driver_again(CUresult (*allocate)(void), bool has, int tries, CUresult wanted)
{
  fake_driver = (struct fake_calls){.to_fail = 1, .failure = CUDA_ERROR_OUT_OF_MEMORY};
  has_memory = has;
  releases = 0;
  EXPECT(allocate() == wanted);
  EXPECT(fake_driver.allocations == tries && releases == 1);
}

static void *p;
static CUdeviceptr d;
static cudaError_t runtime_malloc(void)
{
  return cudaMalloc(&p, 8);
}
static cudaError_t runtime_malloc_async(void)
{
  return cudaMallocAsync(&p, 8, NULL);
}
static cudaError_t runtime_malloc_managed(void)
{
  return cudaMallocManaged(&p, 8, cudaMemAttachGlobal);
}
static cudaError_t runtime_malloc_ptsz(void)
{
  return cudaMallocAsync_ptsz(&p, 8, NULL);
}
static cudaError_t runtime_malloc_pool(void)
{
  return cudaMallocFromPoolAsync(&p, 8, NULL, NULL);
}
static cudaError_t runtime_malloc_pool_ptsz(void)
{
  return cudaMallocFromPoolAsync_ptsz(&p, 8, NULL, NULL);
}
static cudaError_t runtime_malloc_pitch(void)
{
  size_t pitch;
  return cudaMallocPitch(&p, &pitch, 4, 2);
}
static const struct cudaExtent cube = {2, 2, 2};
static const struct cudaChannelFormatDesc bytes_of_8 = {.x = 8};
static cudaError_t runtime_malloc_3d(void)
{
  struct cudaPitchedPtr q;
  return cudaMalloc3D(&q, cube);
}
static cudaError_t runtime_malloc_array(void)
{
  cudaArray_t q;
  return cudaMallocArray(&q, &bytes_of_8, 4, 2, 0);
}
static cudaError_t runtime_malloc_3d_array(void)
{
  cudaArray_t q;
  return cudaMalloc3DArray(&q, &bytes_of_8, cube, 0);
}
static cudaError_t runtime_malloc_mipmapped(void)
{
  cudaMipmappedArray_t q;
  return cudaMallocMipmappedArray(&q, &bytes_of_8, cube, 1, 0);
}
static CUresult driver_malloc_ptsz(void)
{
  return cuMemAllocAsync_ptsz(&d, 8, NULL);
}
static CUresult driver_malloc_pool(void)
{
  return cuMemAllocFromPoolAsync(&d, 8, NULL, NULL);
}
static CUresult driver_malloc_pool_ptsz(void)
{
  return cuMemAllocFromPoolAsync_ptsz(&d, 8, NULL, NULL);
}
static CUresult driver_malloc_managed(void)
{
  return cuMemAllocManaged(&d, 8, 1);
}
static CUresult driver_malloc_pitch(void)
{
  size_t pitch;
  return cuMemAllocPitch_v2(&d, &pitch, 4, 2, 4);
}
static CUresult driver_malloc(void)
{
  return cuMemAlloc_v2(&d, 8);
}
static CUresult driver_malloc_async(void)
{
  return cuMemAllocAsync(&d, 8, NULL);
}
static CUresult driver_create(void)
{
  CUmemGenericAllocationHandle h;
  CUmemAllocationProp prop = {.location.id = 0};
  return cuMemCreate(&h, 8, &prop, 0);
}

static void test_out_of_memory(void)
{
  cudaError_t (*const runtime[])(void) = {
      runtime_malloc,       runtime_malloc_async,     runtime_malloc_managed,  runtime_malloc_ptsz,
      runtime_malloc_pool,  runtime_malloc_pool_ptsz, runtime_malloc_pitch,    runtime_malloc_3d,
      runtime_malloc_array, runtime_malloc_3d_array,  runtime_malloc_mipmapped};
  CUresult (*const driver[])(void) = {
      driver_malloc,      driver_malloc_async,     driver_create,       driver_malloc_ptsz,
      driver_malloc_pool, driver_malloc_pool_ptsz, driver_malloc_pitch, driver_malloc_managed};
  for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++) {
    try_again(runtime[i], true, 2, cudaSuccess);
    try_again(runtime[i], false, 1, cudaErrorMemoryAllocation);
  }
  for (size_t i = 0; i < sizeof driver / sizeof *driver; i++) {
    try_driver_again(driver[i], true, 2, CUDA_SUCCESS);
    try_driver_again(driver[i], false, 1, CUDA_ERROR_OUT_OF_MEMORY);
  }
  /* It does not help: the program hears of it, after one more try. */
  fake_runtime = (struct fake_calls){.to_fail = 9, .failure = cudaErrorMemoryAllocation};
  has_memory = true;
  EXPECT(cudaMalloc(&p, 8) == cudaErrorMemoryAllocation && fake_runtime.allocations == 2);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  /* Other processes are waited for, as long as that may help. */
  has_memory = false, rounds = 5, waited = 0;
  fake_runtime = (struct fake_calls){.to_fail = 3, .failure = cudaErrorMemoryAllocation};
  EXPECT(cudaMalloc(&p, 8) == cudaSuccess && fake_runtime.allocations == 4 && waited == 3);
  EXPECT(cudaGetLastError() == cudaSuccess);
  fake_driver = (struct fake_calls){.to_fail = 3, .failure = CUDA_ERROR_OUT_OF_MEMORY};
  EXPECT(driver_create() == CUDA_SUCCESS && fake_driver.allocations == 4 && waited == 6);
  fake_runtime = (struct fake_calls){.to_fail = 9, .failure = cudaErrorMemoryAllocation};
  EXPECT(cudaMalloc(&p, 8) == cudaErrorMemoryAllocation && fake_runtime.allocations == 6);
  rounds = waited = 0;
  /* Other errors are none of ours. */
  fake_runtime = (struct fake_calls){.to_fail = 1, .failure = cudaErrorInvalidValue};
  releases = 0;
  EXPECT(cudaMalloc(&p, 8) == cudaErrorInvalidValue && releases == 0);
}

static void test_disabled(void)
{
  disable = true;
  shunt_disabled_state = 0; /* not read yet */
  fake_runtime = (struct fake_calls){.to_fail = 1, .failure = cudaErrorMemoryAllocation};
  has_memory = true;
  releases = forgotten = 0;
  EXPECT(cudaMalloc(&p, 8) == cudaErrorMemoryAllocation && fake_runtime.allocations == 1);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  EXPECT(cudaFree(p) == cudaSuccess && cuMemFree_v2(d) == CUDA_SUCCESS);
  fake_driver = (struct fake_calls){.to_fail = 1, .failure = CUDA_ERROR_OUT_OF_MEMORY};
  EXPECT(cuMemAlloc_v2(&d, 8) == CUDA_ERROR_OUT_OF_MEMORY && fake_driver.allocations == 1);
  EXPECT(releases == 0 && forgotten == 0);
  disable = false;
  shunt_disabled_state = -1;
}

/* Of the processor: the machine may do other work as well. */
static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_cost(void)
{
  enum { ROUNDS = 5000, REPEATS = 1000 };
  double best = 1;
  for (int round = 0; round < ROUNDS; round++) {
    const double start = seconds();
    for (int i = 0; i < REPEATS; i++) cudaFree(NULL);
    const double each = (seconds() - start) / REPEATS;
    if (each < best) best = each;
  }
  printf("# memory: repeated %.1f ns\n", 1e9 * best);
  EXPECT(best < 500e-9);
}
#endif

/* ---- the program's side ------------------------------------------------------------------ */

static bool direct;
static bool returned_here(const void *to)
{
  static const char own[1];
  Dl_info there, here;
  return dladdr(to, &there) && dladdr(own, &here) && there.dli_fbase == here.dli_fbase;
}

static void expect_allocated(struct fake_calls *f, bool ok, size_t bytes, unsigned long long with)
{
  EXPECT(ok && f->allocations == 1 && f->bytes == bytes && f->with == with);
  EXPECT(!direct || returned_here(f->returned_to));
  *f = (struct fake_calls){.to_fail = 0};
}

static void expect_freed(struct fake_calls *f, bool ok, unsigned long long with)
{
  EXPECT(ok && f->frees == 1 && f->freed == FAKE_MEMORY && f->with == with);
  EXPECT(!direct || returned_here(f->returned_to));
#ifdef OURSELVES
  EXPECT(forgotten == 1 && frees_before == 0 &&
         last_forgotten == (const void *)(uintptr_t)FAKE_MEMORY);
#endif
  forgotten = 0;
  *f = (struct fake_calls){.to_fail = 0};
}

static void test_handed_on(void)
{
  void *memory = NULL, *const m = (void *)(uintptr_t)FAKE_MEMORY;
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle h;
  CUmemAllocationProp prop = {.location.id = 3};
  struct fake_calls *const r = &fake_runtime, *const v = &fake_driver;
  expect_allocated(r, cudaMalloc(&memory, 11) == cudaSuccess && memory == m, 11, 0);
  expect_allocated(r, cudaMallocAsync(&memory, 12, (cudaStream_t)5) == cudaSuccess, 12, 5);
  expect_allocated(r, cudaMallocManaged(&memory, 13, 2) == cudaSuccess, 13, 2);
  size_t pitch = 0;
  cudaArray_t array;
  cudaMipmappedArray_t mipmapped;
  struct cudaPitchedPtr pitched;
  const struct cudaExtent cuboid = {2, 3, 5};
  const struct cudaChannelFormatDesc eight = {.x = 8};
  const cudaMemPool_t pool = (cudaMemPool_t)40;
  expect_allocated(r, cudaMallocAsync_ptsz(&memory, 12, (cudaStream_t)5) == cudaSuccess, 12, 105);
  expect_allocated(r, cudaMallocFromPoolAsync(&memory, 12, pool, (cudaStream_t)5) == cudaSuccess,
                   12, 45);
  expect_allocated(
      r, cudaMallocFromPoolAsync_ptsz(&memory, 12, pool, (cudaStream_t)5) == cudaSuccess, 12, 145);
  expect_allocated(r, cudaMallocPitch(&memory, &pitch, 4, 3) == cudaSuccess && pitch == 4, 12, 0);
  expect_allocated(r, cudaMalloc3D(&pitched, cuboid) == cudaSuccess && pitched.ptr == m, 30, 0);
  expect_allocated(r, cudaMallocArray(&array, &eight, 3, 2, 4) == cudaSuccess, 48, 4);
  expect_allocated(r, cudaMalloc3DArray(&array, &eight, cuboid, 4) == cudaSuccess, 240, 4);
  expect_allocated(r, cudaMallocMipmappedArray(&mipmapped, &eight, cuboid, 2, 4) == cudaSuccess,
                   240, 6);
  expect_freed(r, cudaFree(m) == cudaSuccess, 0);
  expect_freed(r, cudaFreeAsync_ptsz(m, (cudaStream_t)5) == cudaSuccess, 105);
  expect_freed(r, cudaFreeAsync(m, (cudaStream_t)5) == cudaSuccess, 5);
  expect_allocated(v, cuMemAlloc_v2(&at, 14) == CUDA_SUCCESS && at == FAKE_MEMORY, 14, 0);
  expect_allocated(v, cuMemAllocAsync(&at, 15, (CUstream)5) == CUDA_SUCCESS, 15, 5);
  expect_allocated(v, cuMemCreate(&h, 16, &prop, 4) == CUDA_SUCCESS, 16, 7);
  expect_allocated(v, cuMemAllocAsync_ptsz(&at, 15, (CUstream)5) == CUDA_SUCCESS, 15, 105);
  expect_allocated(
      v, cuMemAllocFromPoolAsync(&at, 15, (CUmemoryPool)40, (CUstream)5) == CUDA_SUCCESS, 15, 45);
  expect_allocated(
      v, cuMemAllocFromPoolAsync_ptsz(&at, 15, (CUmemoryPool)40, (CUstream)5) == CUDA_SUCCESS, 15,
      145);
  expect_allocated(v, cuMemAllocManaged(&at, 15, 1) == CUDA_SUCCESS, 15, 1);
  expect_allocated(v, cuMemAllocPitch_v2(&at, &pitch, 5, 3, 4) == CUDA_SUCCESS, 15, 4);
  expect_freed(v, cuMemFreeAsync_ptsz(FAKE_MEMORY, (CUstream)5) == CUDA_SUCCESS, 105);
  expect_freed(v, cuMemFree_v2(FAKE_MEMORY) == CUDA_SUCCESS, 0);
  expect_freed(v, cuMemFreeAsync(FAKE_MEMORY, (CUstream)5) == CUDA_SUCCESS, 5);
  *r = (struct fake_calls){.to_fail = 1, .failure = cudaErrorMemoryAllocation};
  *v = (struct fake_calls){.to_fail = 1, .failure = CUDA_ERROR_OUT_OF_MEMORY};
  EXPECT(cudaMalloc(&memory, 17) == cudaErrorMemoryAllocation && r->allocations == 1);
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
  EXPECT(cuMemAlloc_v2(&at, 18) == CUDA_ERROR_OUT_OF_MEMORY && v->allocations == 1);
}

int main(int argc, char **argv)
{
  int version;
  direct = argc > 1 && strcmp(argv[1], "direct") == 0;
#ifdef OURSELVES
  if (argc > 1) {
    shunt_fault_arm(atol(argv[1]));
    test_handed_on();
    return failures != 0;
  }
#endif
  /* References that show which copies this program uses. */
  EXPECT(cudaRuntimeGetVersion(&version) == cudaSuccess);
  EXPECT(cuDriverGetVersion(&version) == CUDA_SUCCESS);
  test_handed_on();
#ifdef OURSELVES
  test_out_of_memory();
  test_disabled();
  test_cost();
#endif
  (void)has_memory, (void)releases, (void)frees_before, (void)last_forgotten;
  return failures != 0;
}
#endif
