/* cuda_call.h: how Shunt's host code calls the CUDA runtime: every call is a
   place where a test can make it fail, and gives a shunt_status.  */
#ifndef SHUNT_CUDA_CALL_H
#define SHUNT_CUDA_CALL_H

#include <cuda_runtime_api.h>

#include "backend/plan/fault.h"
#include "kernels/common/device.h"

/* The runtime keeps an error until somebody asks for it, and launchers ask after their launch.  So
   it is asked for here: else the next launch would look failed, and its work would be done twice.
   The runtime is linked statically, so the program's own last error stays as it is.  */
static inline shunt_status shunt_from_cuda(cudaError_t e)
{
  if (e == cudaSuccess) return SHUNT_OK;
  cudaGetLastError();
  return e == cudaErrorMemoryAllocation ? SHUNT_E_MEMORY : SHUNT_E_CUDA;
}

#define SHUNT_CUDA(call) shunt_from_cuda(SHUNT_TRY_OR(cudaErrorUnknown, call))
/* A launcher of kernels/ or conv/; an error that was left before it is cleared first. */
#define SHUNT_LAUNCH(call) SHUNT_TRY_OR(SHUNT_E_CUDA, (cudaGetLastError(), (call)))

/* Work of ours that is not part of the caller's stream must neither disturb nor be refused by a
   capture that another thread has under way: so are allocations, events that are asked about, and
   whatever waits.  */
static inline enum cudaStreamCaptureMode shunt_enter_relaxed(void)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  return mode;
}

static inline void shunt_leave_relaxed(enum cudaStreamCaptureMode mode)
{
  cudaThreadExchangeStreamCaptureMode(&mode);
}

/* What is asked of device `ordinal`, the current one, before anything is run on it; *memory: its
   bytes.  SHUNT_E_UNSUPPORTED: older than compute capability 8.0.  */
static inline shunt_status shunt_device_read(int ordinal, struct shunt_device *device,
                                             int64_t *memory)
{
  struct {
    enum cudaDeviceAttr what;
    int value;
  } a[] = {{cudaDevAttrMultiProcessorCount, 0},
           {cudaDevAttrComputeCapabilityMajor, 0},
           {cudaDevAttrComputeCapabilityMinor, 0},
           {cudaDevAttrMaxSharedMemoryPerBlockOptin, 0},
           {cudaDevAttrL2CacheSize, 0}};
  size_t unused, total = 0;
  shunt_status s = SHUNT_OK;

  for (unsigned i = 0; s == SHUNT_OK && i < sizeof a / sizeof a[0]; i++)
    s = SHUNT_CUDA(cudaDeviceGetAttribute(&a[i].value, a[i].what, ordinal));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaMemGetInfo(&unused, &total));
  if (s != SHUNT_OK) return s;
  *device = (struct shunt_device){.multiprocessors = a[0].value,
                                  .compute_capability = a[1].value * 10 + a[2].value,
                                  .shared_per_block = a[3].value,
                                  .l2_bytes = a[4].value};
  *memory = (int64_t)total;
  return device->compute_capability >= 80 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

#endif
