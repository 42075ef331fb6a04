/* cuda_call.h: how Shunt's host code calls the CUDA runtime: every call is a
   place where a test can make it fail, and gives a shunt_status.  */
#ifndef SHUNT_CUDA_CALL_H
#define SHUNT_CUDA_CALL_H

#include <cuda_runtime_api.h>

#include "backend/plan/fault.h"
#include "kernels/common/types.h"

/* The runtime keeps a failure until somebody asks for it, and launchers ask behind their launch: so
   it is asked for here, or the launch would be taken for failed, and what it does be done
   twice.  The runtime is linked statically: the program's own last error is another.  */
static inline shunt_status shunt_from_cuda(cudaError_t e)
{
  if (e == cudaSuccess) return SHUNT_OK;
  cudaGetLastError();
  return e == cudaErrorMemoryAllocation ? SHUNT_E_MEMORY : SHUNT_E_CUDA;
}

#define SHUNT_CUDA(call) shunt_from_cuda(SHUNT_TRY_OR(cudaErrorUnknown, call))
/* A launcher of kernels/ or conv/, which is not to be blamed for what failed before. */
#define SHUNT_LAUNCH(call) SHUNT_TRY_OR(SHUNT_E_CUDA, (cudaGetLastError(), (call)))

#endif
