/* device.c: the device, its contexts and its memory. */
#include "tests/unit/way/device.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/way/streams.h"

struct device device = {.count = 1, .capability = 90, .total = (size_t)1 << 36};
static unsigned long long context = 1;

void device_new_context(void)
{
  context++;
}

void device_traced(char letter)
{
  const hold_t hold = device_lock();
  const size_t n = strlen(device.trace);
  device.launches++;
  if (n + 1 < sizeof device.trace) device.trace[n] = letter;
  device_unlock(hold);
}

static cudaError_t here(void)
{
  if (device.old_driver) return cudaErrorInsufficientDriver;
  return device.count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

/* ---- memory --------------------------------------------------------------------------------- */

enum kind { PLAIN, PINNED, POOLED };
struct piece {
  char *at;
  size_t bytes;
  enum kind kind;
};
static struct piece *pieces;
static int piece_count, piece_room;

/* What the pool has of the device beyond its pieces: it may have more of it for new ones. */
static struct {
  size_t freed;        /* by this stream, for which nobody has waited since */
  cudaStream_t stream; /* always the same one */
  size_t spare;        /* what a trim gives back */
} pool;

void device_waited_for(cudaStream_t s)
{
  if (s != pool.stream) return;
  pool.spare += pool.freed;
  pool.freed = 0;
}

/* So many bytes more of the device; with the lock held. */
static bool claim(size_t bytes, enum kind kind)
{
  if (kind == PINNED) return true;
  size_t *const reused = pool.freed > bytes ? &pool.freed : &pool.spare;
  if (device.full) return false;
  if (kind == POOLED && *reused >= bytes) return *reused -= bytes, true;
  if (device.used + bytes > device.total) return false;
  device.used += bytes;
  if (device.used > device.peak) device.peak = device.used;
  return true;
}

static bool note(void *at, size_t bytes, enum kind kind)
{
  if (piece_count == piece_room) {
    const int room = piece_room ? 2 * piece_room : 64;
    struct piece *more = realloc(pieces, (size_t)room * sizeof *more);
    if (!more) return false;
    pieces = more;
    piece_room = room;
  }
  pieces[piece_count++] = (struct piece){at, bytes, kind};
  device.pieces = piece_count;
  return true;
}

static int piece_of(const void *at)
{
  for (int i = 0; i < piece_count; i++)
    if ((const char *)at >= pieces[i].at && (const char *)at < pieces[i].at + pieces[i].bytes)
      return i;
  return -1;
}

static void *have(size_t bytes, enum kind kind)
{
  void *p = NULL;
  const hold_t hold = device_lock();
  if (claim(bytes, kind) && (posix_memalign(&p, 256, bytes) || !note(p, bytes, kind))) abort();
  device_unlock(hold);
  return p;
}

static bool give_back(void *p)
{
  const hold_t hold = device_lock();
  const int i = p ? piece_of(p) : -1;
  if (i >= 0) {
    if (pieces[i].kind == PLAIN) device.used -= pieces[i].bytes;
    if (pieces[i].kind == POOLED) pool.freed += pieces[i].bytes;
    free(pieces[i].at);
    pieces[i] = pieces[--piece_count];
    device.pieces = piece_count;
  }
  device_unlock(hold);
  return i >= 0;
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
  (void)flags;
  if (device_disturbs()) return cudaErrorStreamCaptureUnsupported;
  return (*p = have(bytes, PINNED)) ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *p)
{
  if (device_disturbs()) return cudaErrorStreamCaptureUnsupported;
  return give_back(p) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  if (device_disturbs()) return cudaErrorStreamCaptureUnsupported;
  *total = device.total;
  *available = device.full ? 0 : device.total - device.used;
  return here();
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *props)
{
  (void)props;
  return *out = (cudaMemPool_t)(void *)&pool, here();
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t which)
{
  return (void)which, cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t of, size_t bytes)
{
  (void)of, (void)bytes;
  const hold_t hold = device_lock();
  device.used -= pool.spare;
  pool.spare = 0;
  device_unlock(hold);
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t of, enum cudaMemPoolAttr which, void *value)
{
  const hold_t hold = device_lock();
  uint64_t reserved = pool.freed + pool.spare;
  for (int i = 0; i < piece_count; i++) reserved += pieces[i].kind == POOLED ? pieces[i].bytes : 0;
  device_unlock(hold);
  (void)of, (void)which;
  return *(uint64_t *)value = reserved, cudaSuccess;
}

bool device_take(size_t bytes)
{
  const hold_t hold = device_lock();
  const bool there = claim(bytes, PLAIN);
  device_unlock(hold);
  return there;
}
void device_return(size_t bytes)
{
  const hold_t hold = device_lock();
  device.used -= bytes;
  device_unlock(hold);
}

size_t device_live(void)
{
  const hold_t hold = device_lock();
  const size_t live = device.used - pool.freed - pool.spare;
  device_unlock(hold);
  return live;
}

/* ---- the driver's functions ----------------------------------------------------------------- */

static CUresult allocate(CUdeviceptr *at, size_t bytes, CUmemoryPool from, CUstream stream)
{
  (void)stream;
  if (device_disturbs()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  *at = (CUdeviceptr)have(bytes, from ? POOLED : PLAIN);
  return *at ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
static void free_in_stream(const void *arguments)
{
  give_back(*(void *const *)arguments);
}
static CUresult free_async(CUdeviceptr at, CUstream stream)
{
  void *p = (void *)at;
  if (device_disturbs()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  pool.stream = stream;
  device_enqueue(stream, free_in_stream, &p, sizeof p);
  return CUDA_SUCCESS;
}
static CUresult allocate_now(CUdeviceptr *at, size_t bytes)
{
  return allocate(at, bytes, NULL, NULL);
}
static CUresult free_now(CUdeviceptr at)
{
  device_run();
  return give_back((void *)at) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult range(CUdeviceptr *base, size_t *bytes, CUdeviceptr at)
{
  const hold_t hold = device_lock();
  const int i = piece_of((const void *)at);
  if (i >= 0) *base = (CUdeviceptr)pieces[i].at, *bytes = pieces[i].bytes;
  device_unlock(hold);
  return i >= 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
static CUresult context_id(CUcontext c, unsigned long long *id)
{
  (void)c;
  return *id = context, device.count > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
/* Of this process and those that it forks: others that run beside it share no budget with it. */
static pid_t process;
__attribute__((constructor)) static void remember_process(void)
{
  process = getpid();
}
static CUresult uuid(CUuuid *out, CUdevice d)
{
  (void)d;
  memset(out, 0x5a, sizeof *out);
  memcpy(out, &process, sizeof process);
  return CUDA_SUCCESS;
}
static CUresult name(char *out, int size, CUdevice d)
{
  (void)d;
  strncpy(out, "NVIDIA H200", (size_t)size);
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
  static const struct {
    const char *name;
    void *function;
  } known[] = {{"cuMemAllocFromPoolAsync", (void *)allocate},
               {"cuMemFreeAsync", (void *)free_async},
               {"cuMemAlloc", (void *)allocate_now},
               {"cuMemFree", (void *)free_now},
               {"cuMemGetAddressRange", (void *)range},
               {"cuCtxGetId", (void *)context_id},
               {"cuDeviceGetUuid", (void *)uuid},
               {"cuDeviceGetName", (void *)name}};
  (void)version, (void)flags;
  *function = NULL;
  *found = cudaDriverEntryPointSymbolNotFound;
  if (device.old_driver) return cudaErrorInsufficientDriver;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(symbol, known[i].name) == 0) {
      *function = known[i].function;
      *found = cudaDriverEntryPointSuccess;
    }
  return cudaSuccess;
}

/* ---- what it is ----------------------------------------------------------------------------- */

cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *ordinal)
{
  return *ordinal = 0, here();
}
cudaError_t cudaDriverGetVersion(int *version)
{
  return *version = CUDART_VERSION, here();
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr what, int ordinal)
{
  (void)ordinal;
  switch (what) {
  case cudaDevAttrMultiProcessorCount: *value = 132; break;
  case cudaDevAttrComputeCapabilityMajor: *value = device.capability / 10; break;
  case cudaDevAttrComputeCapabilityMinor: *value = device.capability % 10; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
  case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
  default: return cudaErrorInvalidValue;
  }
  return here();
}
