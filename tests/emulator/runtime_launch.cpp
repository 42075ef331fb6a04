// runtime_launch.cpp: the table of kernels, and the calls that launch them or ask of them.
#include <algorithm>
#include <map>

#include "machine.h"
#include "runtime.h"

namespace emulator
{

void run_grid(const launch_config &config, const std::function<void()> &thread);

struct kernel_record {
  invoker make = nullptr;
  int dynamic_most = static_shared_most;
};
static std::map<const void *, kernel_record> &kernels()
{
  static auto *all = new std::map<const void *, kernel_record>;
  return *all;
}
const void *remember_kernel(const void *kernel, invoker make)
{
  const locked hold(lock);
  kernels()[kernel].make = make;
  return kernel;
}

static cudaError_t check(const launch_config &c, const void *kernel)
{
  const dim3 dims[] = {c.grid, c.block, c.cluster};
  for (const dim3 &d : dims)
    if (d.x < 1 || d.y < 1 || d.z < 1) return cudaErrorInvalidConfiguration;
  if (c.grid.x > 0x7fffffffu || c.grid.y > 65535 || c.grid.z > 65535 || c.block.z > 64 ||
      (uint64_t)c.block.x * c.block.y * c.block.z > 1024)
    return cudaErrorInvalidConfiguration;
  if (c.grid.x % c.cluster.x || c.grid.y % c.cluster.y || c.grid.z % c.cluster.z ||
      (uint64_t)c.cluster.x * c.cluster.y * c.cluster.z > 8)
    return cudaErrorInvalidConfiguration;
  if (c.shared > (size_t)kernels()[kernel].dynamic_most) return cudaErrorInvalidValue;
  return cudaSuccess;
}

int launch(const launch_config &config, const void *kernel, std::function<void()> thread)
{
  const locked hold(lock);
  if (!at_home(static_cast<CUstream_st *>(config.stream)))
    return note(cudaErrorInvalidResourceHandle);
  const cudaError_t e = check(config, kernel);
  if (e != cudaSuccess) return note(e);
  return enqueue(config.stream, [config, thread] { run_grid(config, thread); });
}

int launch_remembered(const launch_config &config, const void *kernel, void **parameters)
{
  const locked hold(lock);
  const auto found = kernels().find(kernel);
  if (found == kernels().end() || !found->second.make) return note(cudaErrorInvalidDeviceFunction);
  return launch(config, kernel, found->second.make(kernel, parameters));
}

} // namespace emulator

using namespace emulator;

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **parameters,
                             size_t shared, cudaStream_t s)
{
  return (cudaError_t)launch_remembered({grid, block, dim3(1), shared, s}, kernel, parameters);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                void **parameters)
{
  launch_config c = {config->gridDim, config->blockDim, dim3(1), config->dynamicSmemBytes,
                     config->stream};
  for (unsigned i = 0; i < config->numAttrs; i++)
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto &d = config->attrs[i].val.clusterDim;
      c.cluster = dim3(d.x, d.y, d.z);
    }
  return (cudaError_t)launch_remembered(c, kernel, parameters);
}
cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute a, int value)
{
  if (a != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || (size_t)value > shared_most) return note(cudaErrorInvalidValue);
  const locked hold(lock);
  kernels()[kernel].dynamic_most = value;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *kernel)
{
  const locked hold(lock);
  *a = {};
  a->maxThreadsPerBlock = 1024;
  a->numRegs = 64;
  a->ptxVersion = a->binaryVersion = 90;
  a->maxDynamicSharedSizeBytes = kernels()[kernel].dynamic_most;
  return cudaSuccess;
}
// As registers of 64 a thread, the shared memory of the launch and the threads allow.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int threads,
                                                          size_t shared)
{
  if (threads < 1 || threads > 1024) return note(cudaErrorInvalidValue);
  const size_t by_shared = ((size_t)228 << 10) / (shared + 1024);
  *blocks = std::min({65536 / 64 / threads, 2048 / threads, (int)by_shared, 32});
  return cudaSuccess;
}
