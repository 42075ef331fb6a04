/* device.c: the device, its contexts and its memory. */
#include "tests/unit/way/device.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

struct piece {
  char *at;
  size_t bytes;
  bool pinned;
};
static struct piece *pieces;
static int piece_count, piece_room;

static bool note(void *at, size_t bytes, bool pinned)
{
  if (piece_count == piece_room) {
    const int room = piece_room ? 2 * piece_room : 64;
    struct piece *more = realloc(pieces, (size_t)room * sizeof *more);
    if (!more) return false;
    pieces = more;
    piece_room = room;
  }
  pieces[piece_count++] = (struct piece){at, bytes, pinned};
  device.pieces = piece_count;
  if (!pinned) device.used += bytes;
  if (device.used > device.peak) device.peak = device.used;
  return true;
}

static int piece_of(const void *at)
{
  for (int i = 0; i < piece_count; i++)
    if ((const char *)at >= pieces[i].at && (const char *)at < pieces[i].at + pieces[i].bytes)
      return i;
  return -1;
}

static void *have(size_t bytes, bool pinned)
{
  void *p = NULL;
  const hold_t hold = device_lock();
  const bool room = pinned || (!device.full && device.used + bytes <= device.total);
  if (room && posix_memalign(&p, 256, bytes)) p = NULL;
  if (p && !note(p, bytes, pinned)) free(p), p = NULL;
  device_unlock(hold);
  return p;
}

static bool give_back(void *p)
{
  const hold_t hold = device_lock();
  const int i = p ? piece_of(p) : -1;
  if (i >= 0) {
    if (!pieces[i].pinned) device.used -= pieces[i].bytes;
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
  return (*p = have(bytes, true)) ? cudaSuccess : cudaErrorMemoryAllocation;
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
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
  static char pools;
  (void)props;
  return *pool = (cudaMemPool_t)(void *)&pools, here();
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  return (void)pool, cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
  return (void)pool, (void)bytes, cudaSuccess;
}

/* ---- the driver's functions ----------------------------------------------------------------- */

static CUresult allocate(CUdeviceptr *at, size_t bytes, CUmemoryPool pool, CUstream stream)
{
  (void)pool, (void)stream;
  if (device_disturbs()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return (*at = (CUdeviceptr)have(bytes, false)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
static void free_in_stream(const void *arguments)
{
  give_back(*(void *const *)arguments);
}
static CUresult free_async(CUdeviceptr at, CUstream stream)
{
  void *p = (void *)at;
  if (device_disturbs()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
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
static CUresult uuid(CUuuid *out, CUdevice d)
{
  (void)d;
  memset(out, 0x5a, sizeof *out);
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
