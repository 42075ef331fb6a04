/* allocations.c: the program's device memory comes before Shunt's.

   Functions that allocate and free device memory are exported to be seen, those of the CUDA runtime
   and of the driver:

     allocate   handed on; if the device has no more memory, all packed copies are let go of, other
                processes are asked to do the same, and it is tried again before the program hears
                of it
     free       what is known of matrices in that memory is forgotten first, and their copies go

   With SHUNT_DISABLE=1 all is handed on, and nothing else done.

   Only calls by name come here: not those of a runtime that is linked statically, nor those through
   pointers from dlsym.

   Our own runtime is linked statically, and has functions of these names: they are renamed in the
   copy of it that this library is linked to (local.mk).  */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cusparse/entry.h"
#include "backend/loader/callers.h"
#include "backend/loader/library.h"
#include "backend/options/disable.h"
#include "backend/plan/context.h"
#include "backend/plan/fault.h"
#include "backend/plan/memory/device_memory.h"

#undef cuMemAlloc
#undef cuMemFree

/* What programs call that were compiled for a default stream of each thread; no header declares
   it. */
__typeof__(cudaMallocAsync) cudaMallocAsync_ptsz;
__typeof__(cudaMallocFromPoolAsync) cudaMallocFromPoolAsync_ptsz;
__typeof__(cudaFreeAsync) cudaFreeAsync_ptsz;
__typeof__(cuMemAllocAsync) cuMemAllocAsync_ptsz;
__typeof__(cuMemAllocFromPoolAsync) cuMemAllocFromPoolAsync_ptsz;
__typeof__(cuMemFreeAsync) cuMemFreeAsync_ptsz;

/* ---- the originals ------------------------------------------------------------------------ */

/* clang-format off */
#define RUNTIME(X)                                                                                 \
  X(Malloc) X(MallocAsync) X(MallocAsync_ptsz) X(MallocFromPoolAsync) X(MallocFromPoolAsync_ptsz)  \
  X(MallocManaged) X(MallocPitch) X(Malloc3D) X(MallocArray) X(Malloc3DArray)                      \
  X(MallocMipmappedArray) X(Free) X(FreeAsync) X(FreeAsync_ptsz)
#define DRIVER(X)                                                                                  \
  X(MemAlloc_v2) X(MemAllocAsync) X(MemAllocAsync_ptsz) X(MemAllocFromPoolAsync)                   \
  X(MemAllocFromPoolAsync_ptsz) X(MemAllocManaged) X(MemAllocPitch_v2) X(MemCreate)                \
  X(MemFree_v2) X(MemFreeAsync) X(MemFreeAsync_ptsz)
/* clang-format on */

/* Of one library: those of the runtime, or those of the driver. */
struct functions {
  struct functions *next;
  const struct library_mark *mark;
  struct loaded library;
#define POINTER(f) __typeof__(cuda##f) *f;
  RUNTIME(POINTER)
  POINTER(GetLastError)
#undef POINTER
#define POINTER(f) __typeof__(cu##f) *f;
  DRIVER(POINTER)
#undef POINTER
};

static bool is_exported(const char *name)
{
#define NAME(f) "cuda" #f,
  static const char *const runtime[] = {RUNTIME(NAME)};
#undef NAME
#define NAME(f) "cu" #f,
  static const char *const driver[] = {DRIVER(NAME)};
#undef NAME
  for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
    if (strcmp(name, runtime[i]) == 0) return true;
  for (size_t i = 0; i < sizeof driver / sizeof *driver; i++)
    if (strcmp(name, driver[i]) == 0) return true;
  return false;
}

static const struct library_mark runtime_mark = {"cudaRuntimeGetVersion", "cuda", is_exported};
static const struct library_mark driver_mark = {"cuDriverGetVersion", "cu", is_exported};

static struct caller_site runtime_sites[256], driver_sites[256];
static struct callers runtime_callers = {.sites = runtime_sites, .count = 256};
static struct callers driver_callers = {.sites = driver_sites, .count = 256};
static _Atomic(struct functions *) all;

static void fill(struct functions *f, const struct library_mark *mark)
{
  void *p;
#define FILL(prefix, name)                                                                         \
  p = loaded_function_of(&f->library, mark, #prefix #name);                                        \
  memcpy(&f->name, &p, sizeof p);
#define RUNTIME_FILL(name) FILL(cuda, name)
#define DRIVER_FILL(name) FILL(cu, name)
  if (mark == &runtime_mark) {
    RUNTIME(RUNTIME_FILL)
    RUNTIME_FILL(GetLastError)
  } else {
    DRIVER(DRIVER_FILL)
  }
}

/* The functions of a library for which the host has no memory: the caller's call alone. */
static _Thread_local struct functions for_once;

static const struct functions *find_for_once(struct loaded *library,
                                             const struct library_mark *mark)
{
  for_once = (struct functions){.mark = mark, .library = *library};
  fill(&for_once, mark);
  loaded_close(library); /* the caller has it open */
  return &for_once;
}

/* The functions of the library for this caller; they stay, and the library stays open. */
static const struct functions *learn(const void *caller, const struct library_mark *mark,
                                     struct callers *callers)
{
  struct loaded library;
  const int saved_errno = errno;
  struct functions *f = NULL;
  const struct functions *once = NULL;
  if (loaded_library_for(caller, mark, &library)) {
    for (f = atomic_load(&all); f; f = f->next)
      if (f->mark == mark && f->library.base == library.base) break;
    struct functions *made = f ? NULL : SHUNT_TRY_OR(NULL, calloc(1, sizeof *made));
    if (made) {
      made->mark = mark;
      made->library = library;
      fill(made, mark);
      made->next = atomic_load(&all);
      while (!atomic_compare_exchange_weak(&all, &made->next, made)) {
      }
      f = made;
    } else if (f) {
      loaded_close(&library);
    } else {
      once = find_for_once(&library, mark);
    }
  }
  if (f) callers_remember(callers, caller, f);
  dlerror(); /* the loader's message for a look-up of ours is not for the program to find */
  errno = saved_errno;
  return f ? f : once;
}

static inline const struct functions *runtime_for(const void *caller)
{
  const struct functions *f = callers_recall(&runtime_callers, caller);
  return f ? f : learn(caller, &runtime_mark, &runtime_callers);
}

static inline const struct functions *driver_for(const void *caller)
{
  const struct functions *f = callers_recall(&driver_callers, caller);
  return f ? f : learn(caller, &driver_mark, &driver_callers);
}

/* ---- the CUDA runtime ------------------------------------------------------------------------ */

#define CALLER __builtin_return_address(0)

/* Again, if that may help.  The failure would else stay the runtime's last error. */
#define ALLOCATE(f, ...)                                                                           \
  const struct functions *o = runtime_for(CALLER);                                                 \
  if (!o || !o->f) return cudaErrorInitializationError;                                            \
  if (shunt_disabled()) return o->f(__VA_ARGS__);                                                  \
  cudaError_t e = o->f(__VA_ARGS__);                                                               \
  if (e == cudaErrorMemoryAllocation && shunt_context_release_memory()) {                          \
    if (o->GetLastError) o->GetLastError();                                                        \
    e = o->f(__VA_ARGS__);                                                                         \
  }                                                                                                \
  for (int i = 0; e == cudaErrorMemoryAllocation && shunt_context_await_others(i); i++) {          \
    if (o->GetLastError) o->GetLastError();                                                        \
    e = o->f(__VA_ARGS__);                                                                         \
  }                                                                                                \
  return e

#define RELEASE(f, memory, ...)                                                                    \
  const struct functions *o = runtime_for(CALLER);                                                 \
  if (!o || !o->f) return cudaErrorInitializationError;                                            \
  if (shunt_disabled()) return o->f(__VA_ARGS__);                                                  \
  shunt_context_forget_memory(memory);                                                             \
  return o->f(__VA_ARGS__)

SHUNT_EXPORT cudaError_t cudaMalloc(void **devPtr, size_t size)
{
  ALLOCATE(Malloc, devPtr, size);
}

SHUNT_EXPORT cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
  ALLOCATE(MallocAsync, devPtr, size, hStream);
}

SHUNT_EXPORT cudaError_t cudaMallocAsync_ptsz(void **devPtr, size_t size, cudaStream_t hStream)
{
  ALLOCATE(MallocAsync_ptsz, devPtr, size, hStream);
}

SHUNT_EXPORT cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                                 cudaStream_t stream)
{
  ALLOCATE(MallocFromPoolAsync, ptr, size, memPool, stream);
}

SHUNT_EXPORT cudaError_t cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size,
                                                      cudaMemPool_t memPool, cudaStream_t stream)
{
  ALLOCATE(MallocFromPoolAsync_ptsz, ptr, size, memPool, stream);
}

SHUNT_EXPORT cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
  ALLOCATE(MallocManaged, devPtr, size, flags);
}

SHUNT_EXPORT cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
  ALLOCATE(MallocPitch, devPtr, pitch, width, height);
}

SHUNT_EXPORT cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr,
                                      struct cudaExtent extent)
{
  ALLOCATE(Malloc3D, pitchedDevPtr, extent);
}

SHUNT_EXPORT cudaError_t cudaMallocArray(cudaArray_t *array,
                                         const struct cudaChannelFormatDesc *desc, size_t width,
                                         size_t height, unsigned int flags)
{
  ALLOCATE(MallocArray, array, desc, width, height, flags);
}

SHUNT_EXPORT cudaError_t cudaMalloc3DArray(cudaArray_t *array,
                                           const struct cudaChannelFormatDesc *desc,
                                           struct cudaExtent extent, unsigned int flags)
{
  ALLOCATE(Malloc3DArray, array, desc, extent, flags);
}

SHUNT_EXPORT cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmappedArray,
                                                  const struct cudaChannelFormatDesc *desc,
                                                  struct cudaExtent extent, unsigned int numLevels,
                                                  unsigned int flags)
{
  ALLOCATE(MallocMipmappedArray, mipmappedArray, desc, extent, numLevels, flags);
}

SHUNT_EXPORT cudaError_t cudaFree(void *devPtr)
{
  RELEASE(Free, devPtr, devPtr);
}

SHUNT_EXPORT cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
  RELEASE(FreeAsync, devPtr, devPtr, hStream);
}

SHUNT_EXPORT cudaError_t cudaFreeAsync_ptsz(void *devPtr, cudaStream_t hStream)
{
  RELEASE(FreeAsync_ptsz, devPtr, devPtr, hStream);
}

/* ---- the driver ------------------------------------------------------------------------------ */

#undef ALLOCATE
#define ALLOCATE(f, ...)                                                                           \
  const struct functions *o = driver_for(CALLER);                                                  \
  if (!o || !o->f) return CUDA_ERROR_NOT_INITIALIZED;                                              \
  if (shunt_disabled()) return o->f(__VA_ARGS__);                                                  \
  CUresult e = o->f(__VA_ARGS__);                                                                  \
  if (e == CUDA_ERROR_OUT_OF_MEMORY && shunt_context_release_memory()) e = o->f(__VA_ARGS__);      \
  for (int i = 0; e == CUDA_ERROR_OUT_OF_MEMORY && shunt_context_await_others(i); i++)             \
    e = o->f(__VA_ARGS__);                                                                         \
  return e

#undef RELEASE
#define RELEASE(f, memory, ...)                                                                    \
  const struct functions *o = driver_for(CALLER);                                                  \
  if (!o || !o->f) return CUDA_ERROR_NOT_INITIALIZED;                                              \
  if (shunt_disabled()) return o->f(__VA_ARGS__);                                                  \
  shunt_context_forget_memory((const void *)(memory));                                             \
  return o->f(__VA_ARGS__)

SHUNT_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
  ALLOCATE(MemAlloc_v2, dptr, bytesize);
}

SHUNT_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
  ALLOCATE(MemAllocAsync, dptr, bytesize, hStream);
}

SHUNT_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
  ALLOCATE(MemAllocAsync_ptsz, dptr, bytesize, hStream);
}

SHUNT_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                              CUstream hStream)
{
  ALLOCATE(MemAllocFromPoolAsync, dptr, bytesize, pool, hStream);
}

SHUNT_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *dptr, size_t bytesize,
                                                   CUmemoryPool pool, CUstream hStream)
{
  ALLOCATE(MemAllocFromPoolAsync_ptsz, dptr, bytesize, pool, hStream);
}

SHUNT_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
  ALLOCATE(MemAllocManaged, dptr, bytesize, flags);
}

SHUNT_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                         size_t Height, unsigned int ElementSizeBytes)
{
  ALLOCATE(MemAllocPitch_v2, dptr, pPitch, WidthInBytes, Height, ElementSizeBytes);
}

SHUNT_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                                  const CUmemAllocationProp *prop, unsigned long long flags)
{
  ALLOCATE(MemCreate, handle, size, prop, flags);
}

SHUNT_EXPORT CUresult cuMemFree_v2(CUdeviceptr dptr)
{
  RELEASE(MemFree_v2, dptr, dptr);
}

SHUNT_EXPORT CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
  RELEASE(MemFreeAsync, dptr, dptr, hStream);
}

SHUNT_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr dptr, CUstream hStream)
{
  RELEASE(MemFreeAsync_ptsz, dptr, dptr, hStream);
}
