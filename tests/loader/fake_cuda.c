/* fake_cuda.c: a stand-in for the CUDA runtime and driver: of the functions that allocate and free,
   what programs reach by name.  Says what it was asked, and fails as often as it is told to.

     -DRUNTIME   libcudart
     -DDRIVER    libcuda  */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tests/loader/fake_cuda.h"

#define EXPORT __attribute__((visibility("default")))
#undef cuMemAlloc
#undef cuMemFree

#ifdef RUNTIME
EXPORT struct fake_calls fake_runtime;

cudaError_t cudaRuntimeGetVersion(int *version)
{
  return *version = CUDART_VERSION, cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
  const int e = fake_runtime.last_error;
  fake_runtime.last_error = 0;
  return (cudaError_t)e;
}
static cudaError_t allocate(void **out, size_t bytes, unsigned long long with)
{
  fake_runtime.allocations++, fake_runtime.bytes = bytes, fake_runtime.with = with;
  if (fake_runtime.to_fail > 0 && fake_runtime.to_fail--)
    return (cudaError_t)(fake_runtime.last_error = fake_runtime.failure);
  return *out = (void *)(uintptr_t)FAKE_MEMORY, cudaSuccess;
}
static cudaError_t give_back(void *memory, unsigned long long with)
{
  fake_runtime.frees++, fake_runtime.freed = (unsigned long long)(uintptr_t)memory;
  return fake_runtime.with = with, cudaSuccess;
}
cudaError_t cudaMalloc(void **out, size_t bytes)
{
  return allocate(out, bytes, 0);
}
cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t s)
{
  return allocate(out, bytes, (unsigned long long)(uintptr_t)s);
}
cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
  return allocate(out, bytes, flags);
}
cudaError_t cudaFree(void *memory)
{
  return give_back(memory, 0);
}
cudaError_t cudaFreeAsync(void *memory, cudaStream_t s)
{
  return give_back(memory, (unsigned long long)(uintptr_t)s);
}
#endif

#ifdef DRIVER
EXPORT struct fake_calls fake_driver;

CUresult cuDriverGetVersion(int *version)
{
  return *version = CUDA_VERSION, CUDA_SUCCESS;
}
static CUresult allocate(CUdeviceptr *out, size_t bytes, unsigned long long with)
{
  fake_driver.allocations++, fake_driver.bytes = bytes, fake_driver.with = with;
  if (fake_driver.to_fail > 0 && fake_driver.to_fail--) return (CUresult)fake_driver.failure;
  return *out = FAKE_MEMORY, CUDA_SUCCESS;
}
static CUresult give_back(CUdeviceptr memory, unsigned long long with)
{
  fake_driver.frees++, fake_driver.freed = memory;
  return fake_driver.with = with, CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
  return allocate(out, bytes, 0);
}
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream s)
{
  return allocate(out, bytes, (unsigned long long)(uintptr_t)s);
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
  return allocate(out, bytes, flags + (unsigned long long)prop->location.id);
}
CUresult cuMemFree_v2(CUdeviceptr memory)
{
  return give_back(memory, 0);
}
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream s)
{
  return give_back(memory, (unsigned long long)(uintptr_t)s);
}
#endif
