/* fake_cuda.c: a stand-in for the CUDA runtime and driver: of the functions that allocate and free,
   what programs reach by name.  Says what it was asked, and fails as often as it is told to.

     -DRUNTIME   libcudart
     -DDRIVER    libcuda  */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tests/loader/fake_cuda.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLED(fake) (fake).returned_to = __builtin_return_address(0)
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
  CALLED(fake_runtime);
  return allocate(out, bytes, 0);
}
cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t s)
{
  CALLED(fake_runtime);
  return allocate(out, bytes, (unsigned long long)(uintptr_t)s);
}
cudaError_t cudaMallocAsync_ptsz(void **out, size_t bytes, cudaStream_t s)
{
  CALLED(fake_runtime);
  return allocate(out, bytes, (unsigned long long)(uintptr_t)s + 100);
}
cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t s)
{
  CALLED(fake_runtime);
  return allocate(out, bytes, (unsigned long long)((uintptr_t)pool + (uintptr_t)s));
}
cudaError_t cudaMallocFromPoolAsync_ptsz(void **out, size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t s)
{
  CALLED(fake_runtime);
  return allocate(out, bytes, (unsigned long long)((uintptr_t)pool + (uintptr_t)s) + 100);
}
cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
  CALLED(fake_runtime);
  *pitch = width;
  return allocate(out, width * height, 0);
}
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent e)
{
  CALLED(fake_runtime);
  return allocate(&out->ptr, e.width * e.height * e.depth, 0);
}
cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *f, size_t width,
                            size_t height, unsigned flags)
{
  CALLED(fake_runtime);
  return allocate((void **)out, (size_t)f->x * width * height, flags);
}
cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *f,
                              struct cudaExtent e, unsigned flags)
{
  CALLED(fake_runtime);
  return allocate((void **)out, (size_t)f->x * e.width * e.height * e.depth, flags);
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out,
                                     const struct cudaChannelFormatDesc *f, struct cudaExtent e,
                                     unsigned levels, unsigned flags)
{
  CALLED(fake_runtime);
  return allocate((void **)out, (size_t)f->x * e.width * e.height * e.depth, flags + levels);
}
cudaError_t cudaFreeAsync_ptsz(void *memory, cudaStream_t s)
{
  CALLED(fake_runtime);
  return give_back(memory, (unsigned long long)(uintptr_t)s + 100);
}
cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
  CALLED(fake_runtime);
  return allocate(out, bytes, flags);
}
cudaError_t cudaFree(void *memory)
{
  CALLED(fake_runtime);
  return give_back(memory, 0);
}
cudaError_t cudaFreeAsync(void *memory, cudaStream_t s)
{
  CALLED(fake_runtime);
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
  CALLED(fake_driver);
  return allocate(out, bytes, 0);
}
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream s)
{
  CALLED(fake_driver);
  return allocate(out, bytes, (unsigned long long)(uintptr_t)s);
}
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *out, size_t bytes, CUstream s)
{
  CALLED(fake_driver);
  return allocate(out, bytes, (unsigned long long)(uintptr_t)s + 100);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream s)
{
  CALLED(fake_driver);
  return allocate(out, bytes, (unsigned long long)((uintptr_t)pool + (uintptr_t)s));
}
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream s)
{
  CALLED(fake_driver);
  return allocate(out, bytes, (unsigned long long)((uintptr_t)pool + (uintptr_t)s) + 100);
}
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
  CALLED(fake_driver);
  return allocate(out, bytes, flags);
}
CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned element)
{
  CALLED(fake_driver);
  *pitch = width;
  return allocate(out, width * height, element);
}
CUresult cuMemFreeAsync_ptsz(CUdeviceptr memory, CUstream s)
{
  CALLED(fake_driver);
  return give_back(memory, (unsigned long long)(uintptr_t)s + 100);
}
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
  CALLED(fake_driver);
  return allocate(out, bytes, flags + (unsigned long long)prop->location.id);
}
CUresult cuMemFree_v2(CUdeviceptr memory)
{
  CALLED(fake_driver);
  return give_back(memory, 0);
}
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream s)
{
  CALLED(fake_driver);
  return give_back(memory, (unsigned long long)(uintptr_t)s);
}
#endif
