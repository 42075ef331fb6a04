// runtime_memory.cpp: the runtime's calls for memory: the host's, poisoned and known to memory.cpp.
#include <stdlib.h>
#include <string.h>

#include <map>

#include "machine.h"
#include "runtime.h"

struct CUmemPoolHandle_st {
  int device;
};

using namespace emulator;

cudaError_t cudaMalloc(void **p, size_t bytes)
{
  *p = nullptr;
  current_device();
  if (capture_forbids()) return note(cudaErrorStreamCaptureUnsupported);
  if (bytes == 0) return cudaSuccess;
  if (bytes > (size_t)8 << 30 || posix_memalign(p, 256, bytes)) {
    *p = nullptr;
    return note(cudaErrorMemoryAllocation);
  }
  memset(*p, 0xa7, bytes); // whatever was there
  const locked hold(lock);
  memory_known(*p, bytes);
  return cudaSuccess;
}
static void give_back(void *p)
{
  const locked hold(lock);
  if (p) memory_forgotten(p);
  free(p);
}
cudaError_t cudaFree(void *p)
{
  current_device(); // also of NULL: makes the context
  if (p && capture_forbids()) return note(cudaErrorStreamCaptureUnsupported);
  const locked hold(lock);
  streams_finish();
  give_back(p);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
  return cudaMalloc(p, bytes);
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned)
{
  return cudaMalloc(p, bytes);
}
cudaError_t cudaFreeHost(void *p)
{
  return cudaFree(p);
}
// Only what is an error of the caller's.
static std::map<void *, size_t> registered;
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned)
{
  const locked hold(lock);
  for (const auto &r : registered)
    if ((char *)p < (char *)r.first + r.second && (char *)r.first < (char *)p + bytes)
      return note(cudaErrorHostMemoryAlreadyRegistered);
  registered[p] = bytes;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void *p)
{
  const locked hold(lock);
  streams_finish();
  return registered.erase(p) ? cudaSuccess : note(cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t)
{
  return cudaMalloc(p, bytes);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
  const locked hold(lock);
  if (s && s->capture)
    give_back(p);
  else
    stream_add(s, [p] { give_back(p); });
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props)
{
  if (props->location.id < 0 || props->location.id >= devices()) return note(cudaErrorInvalidValue);
  *pool = new CUmemPoolHandle_st{props->location.id};
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value)
{
  return memset(value, 0, sizeof(uint64_t)), cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  return delete pool, cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t, cudaStream_t s)
{
  return cudaMallocAsync(p, bytes, s);
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  *available = *total = (size_t)139 << 30;
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t s)
{
  enqueue(s, [=] { memset(to, byte, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int byte, size_t bytes)
{
  return cudaMemsetAsync(to, byte, bytes, nullptr);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t s)
{
  if (bytes == 0) return cudaSuccess;
  const locked hold(lock);
  const bool at_once = !(s && s->capture) && !(is_known(to) && is_known(from));
  enqueue(s, [=] { memmove(to, from, bytes); });
  if (at_once) stream_finish(s);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t s)
{
  cudaError_t e = cudaSuccess;
  for (size_t i = 0; e == cudaSuccess && i < height; i++)
    e = cudaMemcpyAsync((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width, kind,
                        s);
  return e;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
