// runtime_api.h: the part of the runtime that needs C++: launches, and calls that take kernels or
// pointers of any type.  The rest is cuda_runtime_api.h.
#ifndef SHUNT_EMULATOR_RUNTIME_API_H
#define SHUNT_EMULATOR_RUNTIME_API_H

#include "cuda_runtime_api.h"
#include "emulator.h"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6
};
union cudaLaunchAttributeValue {
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

template <class T> inline cudaError_t cudaMalloc(T **p, size_t bytes)
{
  return cudaMalloc((void **)p, bytes);
}
template <class T> inline cudaError_t cudaMallocHost(T **p, size_t bytes)
{
  return cudaMallocHost((void **)p, bytes);
}
template <class T> inline cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t s)
{
  return cudaMallocAsync((void **)p, bytes, s);
}

extern "C" {
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **parameters,
                             size_t shared, cudaStream_t s);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                void **parameters);
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute a, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *kernel);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads, size_t shared);
}
template <class... P>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute a, int value)
{
  return cudaFuncSetAttribute(emulator::kernel_address(kernel), a, value);
}
template <class... P>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, void (*kernel)(P...))
{
  return cudaFuncGetAttributes(a, emulator::kernel_address(kernel));
}
template <class... P>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                                 int threads, size_t shared)
{
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, emulator::kernel_address(kernel),
                                                       threads, shared);
}
template <class... P, class... A>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                                      A &&...values)
{
  std::tuple<P...> all(static_cast<P>(values)...);
  return std::apply(
      [&](P &...each) {
        void *parameters[] = {const_cast<std::remove_const_t<P> *>(&each)..., nullptr};
        return cudaLaunchKernelExC(config, emulator::kernel_address(kernel), parameters);
      },
      all);
}

#endif
