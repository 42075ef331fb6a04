// runtime.cpp: errors, devices and contexts, with the device that machine.h describes.
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <string>

#include "machine.h"

struct CUctx_st {
  int device;
};

namespace emulator
{

std::recursive_mutex lock;

static thread_local cudaError_t last_error;
cudaError_t note(cudaError_t e)
{
  if (e != cudaSuccess) last_error = e;
  return e;
}

constexpr int devices_most = 16;
static CUctx_st primary[devices_most];
static thread_local CUctx_st *current; // NULL: nothing has been called yet

int devices()
{
  static const int count = [] {
    const char *s = getenv("SHUNT_EMULATOR_DEVICES");
    for (int i = 0; i < devices_most; i++) primary[i].device = i;
    return s ? std::max(0, std::min(atoi(s), devices_most)) : 1;
  }();
  return count;
}
int current_device()
{
  if (!current && devices() > 0) current = &primary[0];
  return current ? current->device : 0;
}

} // namespace emulator

using namespace emulator;

const char *cudaGetErrorName(cudaError_t e)
{
  switch (e) {
  case cudaSuccess: return "cudaSuccess";
  case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
  case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
  case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
  case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
  case cudaErrorNoDevice: return "cudaErrorNoDevice";
  case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
  case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
  default: return "another error";
  }
}
const char *cudaGetErrorString(cudaError_t e)
{
  return cudaGetErrorName(e);
}
cudaError_t cudaPeekAtLastError()
{
  return last_error;
}
cudaError_t cudaGetLastError()
{
  const cudaError_t e = last_error;
  last_error = cudaSuccess;
  return e;
}

cudaError_t cudaGetDeviceCount(int *count)
{
  *count = devices();
  return note(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int *device)
{
  return *device = current_device(), cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
  if (device < 0 || device >= devices()) return note(cudaErrorInvalidDevice);
  current = &primary[device];
  return cudaSuccess;
}
CUresult cuCtxGetCurrent(CUcontext *c)
{
  return *c = current, CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext c)
{
  return current = c, CUDA_SUCCESS;
}
cudaError_t cudaDeviceSynchronize()
{
  const locked hold(lock);
  streams_finish();
  return last_error;
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
  return *version = 13000, cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version)
{
  return *version = 13000, cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
  if (device < 0 || device >= devices()) return note(cudaErrorInvalidDevice);
  *p = {};
  snprintf(p->name, sizeof p->name, "emulator (as NVIDIA H200)");
  p->totalGlobalMem = (size_t)139 << 30;
  p->sharedMemPerBlock = static_shared_most;
  p->sharedMemPerBlockOptin = shared_most;
  p->sharedMemPerMultiprocessor = 228 << 10;
  p->regsPerBlock = 65536;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsPerMultiProcessor = 2048;
  p->major = 9;
  p->minor = 0;
  p->multiProcessorCount = multiprocessors;
  p->l2CacheSize = 50 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr a, int device)
{
  cudaDeviceProp p;
  const cudaError_t e = cudaGetDeviceProperties(&p, device);
  if (e != cudaSuccess) return e;
  switch (a) {
  case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
  case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
  case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
  case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
  case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
  default: return note(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult *found)
{
  static const std::map<std::string, void *> known = {
      {"cuCtxGetCurrent", reinterpret_cast<void *>(&cuCtxGetCurrent)},
      {"cuCtxSetCurrent", reinterpret_cast<void *>(&cuCtxSetCurrent)},
      {"cuTensorMapEncodeTiled", reinterpret_cast<void *>(&cuTensorMapEncodeTiled)}};
  const auto one = known.find(name);
  *function = one != known.end() ? one->second : nullptr;
  *found = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
