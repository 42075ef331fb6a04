/* cuda_call.h: how Shunt's host code calls the CUDA runtime: every call is a
   place where a test can make it fail, and gives a shunt_status.  */
#ifndef SHUNT_CUDA_CALL_H
#define SHUNT_CUDA_CALL_H

#include <cuda_runtime_api.h>

#include "backend/plan/fault.h"
#include "kernels/types.h"

static inline shunt_status shunt_from_cuda(cudaError_t e)
{
  if (e == cudaSuccess) return SHUNT_OK;
  return e == cudaErrorMemoryAllocation ? SHUNT_E_MEMORY : SHUNT_E_CUDA;
}

#define SHUNT_CUDA(call) shunt_from_cuda(SHUNT_TRY_OR(cudaErrorUnknown, call))
/* A launcher of kernels/ or conv/. */
#define SHUNT_LAUNCH(call) SHUNT_TRY_OR(SHUNT_E_CUDA, call)

#endif
