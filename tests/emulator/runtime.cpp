// runtime.cpp: the runtime's calls, with the device that machine.h describes.
#include "runtime_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "cuda.h"
#include "machine.h"
#include "streams.h"

struct CUctx_st {
  int device;
};
struct CUmemPoolHandle_st {
  int device;
};

namespace emulator
{

void run_grid(const launch_config &config, const std::function<void()> &thread);

static thread_local cudaError_t last_error;
static cudaError_t note(cudaError_t e)
{
  if (e != cudaSuccess) last_error = e;
  return e;
}

// Of grids, of what a stream does, and of the table of kernels: one host thread at a time.
static std::recursive_mutex lock;
using locked = std::lock_guard<std::recursive_mutex>;

constexpr int devices_most = 16;
static CUctx_st primary[devices_most];
static thread_local CUctx_st *current; // NULL: nothing has been called yet

static int devices()
{
  static const int count = [] {
    const char *s = getenv("SHUNT_EMULATOR_DEVICES");
    for (int i = 0; i < devices_most; i++)
      primary[i].device = i;
    return s ? std::max(0, std::min(atoi(s), devices_most)) : 1;
  }();
  return count;
}
static int current_device()
{
  if (!current && devices() > 0) current = &primary[0];
  return current ? current->device : 0;
}
// Is the stream, or the event, one of the current device's?
template <class T> static bool at_home(const T *what)
{
  const int device = current_device();
  return !what || what->device == device;
}

int enqueue(void *stream, std::function<void()> work)
{
  CUstream_st *s = static_cast<CUstream_st *>(stream);
  const locked hold(lock);
  if (s && s->capture)
    s->capture->work.push_back(work);
  else
    stream_add(s, work);
  return cudaSuccess;
}

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

// ---- errors, the device
// --------------------------------------------------------------------------

const char *cudaGetErrorName(cudaError_t e)
{
  switch (e) {
  case cudaSuccess:
    return "cudaSuccess";
  case cudaErrorInvalidValue:
    return "cudaErrorInvalidValue";
  case cudaErrorMemoryAllocation:
    return "cudaErrorMemoryAllocation";
  case cudaErrorInvalidConfiguration:
    return "cudaErrorInvalidConfiguration";
  case cudaErrorInvalidDeviceFunction:
    return "cudaErrorInvalidDeviceFunction";
  case cudaErrorNoDevice:
    return "cudaErrorNoDevice";
  case cudaErrorInvalidDevice:
    return "cudaErrorInvalidDevice";
  case cudaErrorInvalidResourceHandle:
    return "cudaErrorInvalidResourceHandle";
  default:
    return "another error";
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
  case cudaDevAttrMaxThreadsPerBlock:
    *value = p.maxThreadsPerBlock;
    break;
  case cudaDevAttrMultiProcessorCount:
    *value = p.multiProcessorCount;
    break;
  case cudaDevAttrL2CacheSize:
    *value = p.l2CacheSize;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = p.major;
    break;
  case cudaDevAttrComputeCapabilityMinor:
    *value = p.minor;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = (int)p.sharedMemPerBlockOptin;
    break;
  default:
    return note(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

// ---- memory
// --------------------------------------------------------------------------------------

// Captures under way that forbid unsafe calls, and whether this thread heeds them.
static int global_captures;
static thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
static bool capture_forbids()
{
  const locked hold(lock);
  return global_captures > 0 && capture_mode == cudaStreamCaptureModeGlobal;
}

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
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

// ---- streams, graphs, events
// -----------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
  const locked hold(lock);
  *s = new CUstream_st{nullptr, current_device(), !(flags & cudaStreamNonBlocking), {}};
  stream_opened(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *s)
{
  return cudaStreamCreateWithFlags(s, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
  const locked hold(lock);
  if (!s) return note(cudaErrorInvalidResourceHandle);
  stream_closed(s);
  delete s->capture;
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
  const locked hold(lock);
  if (s && s->capture) return note(cudaErrorStreamCaptureUnsupported);
  stream_finish(s);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
  const locked hold(lock);
  if (s && s->capture) return note(cudaErrorStreamCaptureUnsupported);
  return stream_done(s) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned)
{
  const locked hold(lock);
  if (!(s && s->capture)) stream_wait(s, e);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus *status)
{
  *status = s && s->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
  std::swap(capture_mode, *mode);
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode)
{
  if (!s || s->capture) return note(cudaErrorInvalidValue);
  s->capture = new CUgraph_st();
  s->capture->global = mode == cudaStreamCaptureModeGlobal;
  const locked hold(lock);
  global_captures += s->capture->global;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
  if (!s || !s->capture) return note(cudaErrorInvalidValue);
  {
    const locked hold(lock);
    global_captures -= s->capture->global;
  }
  *g = s->capture;
  s->capture = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long)
{
  *x = new CUgraphExec_st();
  (*x)->work = g->work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
  for (const auto &work : x->work)
    enqueue(s, work);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
  return delete g, cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x)
{
  return delete x, cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
  *e = new CUevent_st{current_device(), std::make_shared<event_marks>()};
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t *e)
{
  return cudaEventCreateWithFlags(e, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
  return delete e, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
  const locked hold(lock);
  const int device = s ? s->device : current_device();
  if (e->device != device) return note(cudaErrorInvalidResourceHandle);
  if (!(s && s->capture)) stream_mark(s, e);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
  const locked hold(lock);
  event_finish(e);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
  const locked hold(lock);
  return event_come(e) ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
  const locked hold(lock);
  if (!event_come(a) || !event_come(b)) return cudaErrorNotReady;
  *ms = (float)(b->marks->at - a->marks->at);
  return cudaSuccess;
}

// ---- launches
// ------------------------------------------------------------------------------------

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
