/* cache_runtime.h: a CUDA runtime in which all is done at once, for tests of the cache: it counts
   what is allocated, and refuses what would disturb another thread's capture.  Profiles arrive at
   once or when the test says so.  */
#ifndef CACHE_RUNTIME_H
#define CACHE_RUNTIME_H

#include <stdlib.h>
#include <string.h>

#include "backend/log/log_upkeep.h"
#include "backend/options/options.h"
#include "backend/plan/cache.h"
#include "backend/plan/log.h"
#include "backend/plan/memory/device_memory.h"

static int allocated; /* pieces of device memory that are not given back, but the cache's own */
static int events, waits, queries, synchronized;
static bool busy; /* events that were recorded have not passed */
static size_t available = (size_t)1 << 40;
static int looks; /* at how much is available */

static struct shunt_options options;

const struct shunt_options *shunt_options(void)
{
  return &options;
}
/* Another thread captures: what may disturb that fails, but in the relaxed mode. */
static bool captured_elsewhere;
static enum cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
static int disturbed;

static bool disturbs(void)
{
  const bool bad = captured_elsewhere && capture_mode != cudaStreamCaptureModeRelaxed;
  disturbed += bad;
  return bad;
}
#define UNSAFE()                                                                                   \
  if (disturbs()) return cudaErrorStreamCaptureUnsupported

cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
static cudaError_t allocate(void **p, size_t n)
{
  return *p = calloc(1, n), *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags)
{
  UNSAFE();
  return (void)flags, allocate(p, n);
}
cudaError_t cudaFreeHost(void *p)
{
  UNSAFE();
  return free(p), cudaSuccess;
}
/* A pool takes 32 MiB of the device at a time, and keeps them until it is trimmed. */
enum { PIECES = 64, PIECE = 32 << 20, POOLED = 16 };
static int pieces_taken; /* so often */
static int given;        /* memory for copies, so often */
static bool pool_late;   /* what is given back has no new owner before pool_catches_up */
static struct {
  size_t used, freed; /* freed: of that */
  bool reserved;
} piece[PIECES];
struct pooled {
  size_t piece, bytes; /* in front of the memory */
};

static size_t pool_reserved(void)
{
  size_t bytes = 0;
  for (int i = 0; i < PIECES; i++) bytes += piece[i].reserved ? PIECE : 0;
  return bytes;
}
static inline void pool_catches_up(void)
{
  for (int i = 0; i < PIECES; i++) {
    piece[i].used -= piece[i].freed;
    piece[i].freed = 0;
  }
}
static inline void empty_pool(void)
{
  memset(piece, 0, sizeof piece);
  pieces_taken = 0;
}
static size_t place_in_pool(size_t bytes)
{
  size_t i = 0;
  while (i + 1 < PIECES && (!piece[i].reserved || piece[i].used + bytes > PIECE)) i++;
  if (piece[i].reserved && piece[i].used + bytes <= PIECE) return i;
  for (i = 0; i + 1 < PIECES && piece[i].reserved;) i++;
  piece[i].reserved = true;
  pieces_taken++;
  return i;
}
shunt_status shunt_device_allocate(void **memory, size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream)
{
  if (disturbs()) return SHUNT_E_CUDA;
  (void)pool, (void)stream;
  allocated++;
  given++;
  struct pooled *p = calloc(1, POOLED + bytes);
  if (!p) return SHUNT_E_MEMORY;
  *p = (struct pooled){place_in_pool(bytes), bytes};
  piece[p->piece].used += p->bytes;
  *memory = (char *)p + POOLED;
  return SHUNT_OK;
}
shunt_status shunt_device_free(void *memory, cudaStream_t stream)
{
  if (disturbs()) return SHUNT_E_CUDA;
  (void)stream;
  allocated--;
  struct pooled *p = (struct pooled *)((char *)memory - POOLED);
  piece[p->piece].freed += p->bytes;
  if (!pool_late) pool_catches_up();
  return free(p), SHUNT_OK;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value)
{
  UNSAFE();
  (void)pool, (void)which;
  return *(uint64_t *)value = pool_reserved(), cudaSuccess;
}
shunt_status shunt_device_allocate_now(void **memory, size_t bytes)
{
  if (disturbs()) return SHUNT_E_CUDA;
  allocated++;
  return allocate(memory, bytes) == cudaSuccess ? SHUNT_OK : SHUNT_E_MEMORY;
}
void shunt_device_free_now(void *memory)
{
  allocated--;
  free(memory);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
  UNSAFE();
  for (int i = 0; i < PIECES; i++) piece[i].reserved = piece[i].used > 0;
  return (void)pool, (void)bytes, cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
  UNSAFE();
  looks++;
  return *free_bytes = available, *total = (size_t)1 << 40, cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
  return (void)s, memset(p, value, n), cudaSuccess;
}
static bool copies_late; /* what is copied does not arrive */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind k,
                            cudaStream_t s)
{
  (void)k, (void)s;
  if (!copies_late) memcpy(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
  UNSAFE();
  return (void)flags, *s = NULL, cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
  UNSAFE();
  return (void)s, cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *id)
{
  return *id = (unsigned long long)(uintptr_t)s + 1, cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
  waits++;
  return (void)s, (void)e, (void)flags, cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
  UNSAFE();
  return (void)s, busy ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
  UNSAFE();
  synchronized++;
  return (void)s, cudaSuccess;
}
/* Graphs that are captured while `capturing` hold what they are given until they are destroyed. */
static bool capturing;
static struct {
  cudaHostFn_t release;
  void *what;
} objects[4096];
static int object_count;

static inline void destroy_graphs(void)
{
  while (object_count > 0) {
    object_count--;
    objects[object_count].release(objects[object_count].what);
  }
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
  (void)s, (void)id, (void)nodes, (void)edges, (void)count;
  *status = cudaStreamCaptureStatusActive;
  return *graph = NULL, capturing ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t *o, void *p, cudaHostFn_t f, unsigned n,
                                 unsigned flags)
{
  (void)n, (void)flags;
  if (object_count == sizeof objects / sizeof *objects) return cudaErrorUnknown;
  objects[object_count].release = f;
  objects[object_count++].what = p;
  return *o = NULL, cudaSuccess;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t g, cudaUserObject_t o, unsigned n, unsigned flags)
{
  return (void)g, (void)o, (void)n, (void)flags, cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
  const enum cudaStreamCaptureMode before = capture_mode;
  capture_mode = *mode;
  return *mode = before, cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
  static char event;
  events++;
  return (void)flags, *e = (cudaEvent_t)(void *)&event, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
  return (void)e, (void)s, cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
  UNSAFE();
  queries++;
  return (void)e, busy ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
  events--;
  return (void)e, cudaSuccess;
}
/* Profiles that were asked for, and arrive at once or when the test says so. */
static struct ask {
  struct shunt_profile *to;
  uint64_t serial;
  int64_t nnz;
} asked[1024];
static int asks;
static bool arrives;

static void arrive(int i)
{
  *asked[i % 1024].to =
      (struct shunt_profile){.nnz = asked[i % 1024].nnz, .serial = asked[i % 1024].serial};
}

shunt_status shunt_profile_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_profile *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream stream)
{
  (void)scratch, (void)d, (void)stream;
  asked[asks++ % 1024] = (struct ask){out, serial, a->nnz};
  if (arrives) arrive(asks - 1);
  return SHUNT_OK;
}

/* Pictures that were asked for: each arrives at once, unless they fail. */
static int densities, densities_told;
static bool densities_fail, densities_unwanted;
shunt_status shunt_density_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_density *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream stream)
{
  (void)scratch, (void)d, (void)stream;
  densities++;
  if (densities_fail) return SHUNT_E_CUDA;
  *out = (struct shunt_density){.rows = a->nnz, .serial = serial};
  return SHUNT_OK;
}
bool shunt_log_wants_density(void)
{
  return !densities_unwanted;
}
/* Of its own matrix: pictures have its number of entries for rows here. */
void shunt_log_density(const struct shunt_profile *f, const struct shunt_density *d)
{
  densities_told += f->nnz == d->rows;
}

void shunt_log_memory(int64_t copies, int64_t device)
{
  (void)copies, (void)device;
}
void shunt_log_profile(const struct shunt_profile *f)
{
  (void)f;
}

#endif
