#include "backend/plan/memory/device_memory.h"

#include <cuda.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/plan/cuda_call.h"

/* A function of the driver through the runtime, so that nothing links against libcuda. */
static void *driver_function(const char *name, unsigned version, _Atomic(void *) *known)
{
  void *f = atomic_load_explicit(known, memory_order_acquire);
  enum cudaDriverEntryPointQueryResult found;
  if (f) return f;
  if (SHUNT_CUDA(cudaGetDriverEntryPointByVersion(name, &f, version, cudaEnableDefault, &found)) !=
          SHUNT_OK ||
      found != cudaDriverEntryPointSuccess)
    return NULL;
  atomic_store_explicit(known, f, memory_order_release);
  return f;
}

shunt_status shunt_device_allocate(void **memory, size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream)
{
  static _Atomic(void *) known;
  CUdeviceptr at;
  CUresult (*const f)(CUdeviceptr *, size_t, CUmemoryPool, CUstream) =
      (CUresult(*)(CUdeviceptr *, size_t, CUmemoryPool, CUstream))driver_function(
          "cuMemAllocFromPoolAsync", 11020, &known);
  if (!f) return SHUNT_E_CUDA;
  const CUresult e = SHUNT_TRY_OR(CUDA_ERROR_UNKNOWN, f(&at, bytes, pool, stream));
  if (e != CUDA_SUCCESS) return e == CUDA_ERROR_OUT_OF_MEMORY ? SHUNT_E_MEMORY : SHUNT_E_CUDA;
  *memory = (void *)at;
  return SHUNT_OK;
}

shunt_status shunt_device_free(void *memory, cudaStream_t stream)
{
  static _Atomic(void *) known;
  CUresult (*const f)(CUdeviceptr, CUstream) =
      (CUresult(*)(CUdeviceptr, CUstream))driver_function("cuMemFreeAsync", 11020, &known);
  if (!f) return SHUNT_E_CUDA;
  return SHUNT_TRY_OR(CUDA_ERROR_UNKNOWN, f((CUdeviceptr)memory, stream)) == CUDA_SUCCESS
             ? SHUNT_OK
             : SHUNT_E_CUDA;
}

shunt_status shunt_device_allocate_now(void **memory, size_t bytes)
{
  static _Atomic(void *) known;
  CUdeviceptr at;
  CUresult (*const f)(CUdeviceptr *, size_t) =
      (CUresult(*)(CUdeviceptr *, size_t))driver_function("cuMemAlloc", 3020, &known);
  if (!f) return SHUNT_E_CUDA;
  if (SHUNT_TRY_OR(CUDA_ERROR_OUT_OF_MEMORY, f(&at, bytes)) != CUDA_SUCCESS) return SHUNT_E_MEMORY;
  *memory = (void *)at;
  return SHUNT_OK;
}

void shunt_device_free_now(void *memory)
{
  static _Atomic(void *) known;
  CUresult (*const f)(CUdeviceptr) =
      (CUresult(*)(CUdeviceptr))driver_function("cuMemFree", 3020, &known);
  if (f) f((CUdeviceptr)memory);
}

bool shunt_device_uuid(int ordinal, unsigned char uuid[16])
{
  static _Atomic(void *) known;
  CUuuid u;
  CUresult (*const f)(CUuuid *, CUdevice) =
      (CUresult(*)(CUuuid *, CUdevice))driver_function("cuDeviceGetUuid", 11040, &known);
  /* The runtime numbers devices as the driver does. */
  if (!f || f(&u, ordinal) != CUDA_SUCCESS) return false;
  memcpy(uuid, u.bytes, 16);
  return true;
}

bool shunt_device_range(const void *p, const void **base, size_t *bytes)
{
  static _Atomic(void *) known;
  CUdeviceptr start;
  CUresult (*const f)(CUdeviceptr *, size_t *, CUdeviceptr) =
      (CUresult(*)(CUdeviceptr *, size_t *, CUdeviceptr))driver_function("cuMemGetAddressRange",
                                                                         3020, &known);
  if (!f || f(&start, bytes, (CUdeviceptr)p) != CUDA_SUCCESS) return false;
  *base = (const void *)start;
  return true;
}
