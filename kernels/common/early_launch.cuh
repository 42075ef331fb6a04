// early_launch.cuh: launching a kernel while the one before it in the stream still runs.
//
// Programmatic dependent launch (compute capability 9.0): the blocks of a kernel launched
// by launch_early may become resident before the kernel before it has finished, and wait in
// wait_for_previous() until it has, its memory visible.  So a chain of small kernels
// does not pay for each one's launch.  Legal inside stream capture.
//
// A kernel launched this way must call wait_for_previous() in all threads before it touches memory.
// Where the next kernel in the stream may be somebody else's, it must do so before it lets that one
// in: that one may use, without waiting, what all kernels before its predecessor have written.
//
// Not even that is enough where cuSPARSE's may come next: of 12.9, those of CSR_ALG3 in f32 and f64
// are launched this way and read B without any wait, which is right behind kernels that let nobody
// in.  So what may write the f32 or f64 that they read lets the next kernel in only where the
// caller says that it waits (shunt_spmm.next_waits), or where the next is Shunt's own.  Other types
// it does not read so (shunt_type_is_read_early); but it may write what a product still reads, so
// that behind such a library nobody is let in (shunt_problem_lets_next_in).
#pragma once
#include <cuda_runtime.h>

#include "kernels/common/device.h"

namespace shunt
{

__device__ __forceinline__ void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

// Lets the next kernel's blocks come in now; its wait is for the end of this one all the same.
__device__ __forceinline__ void let_next_in()
{
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Whether device code built with that wait is what a device of this compute capability (90: 9.0)
// will run: an image of its own major version, 9 or newer.  Older code ignores the dependency.
inline bool can_launch_early(int compute_capability)
{
  for (const int arch : {__CUDA_ARCH_LIST__})
    if (arch >= 900 && arch <= compute_capability * 10 && arch / 100 == compute_capability / 10)
      return true;
  return false;
}

// shared: bytes of dynamic shared memory.
template <class... Parameters, class... Arguments>
inline shunt_status launch_early_with(int shared, void (*kernel)(Parameters...), dim3 grid,
                                      dim3 block, const struct shunt_device *d, cudaStream_t stream,
                                      Arguments... arguments)
{
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = static_cast<size_t>(shared);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = can_launch_early(d->compute_capability) ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...) == cudaSuccess
             ? SHUNT_OK
             : SHUNT_E_CUDA;
}

template <class... Parameters, class... Arguments>
inline shunt_status launch_early(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                 const struct shunt_device *d, cudaStream_t stream,
                                 Arguments... arguments)
{
  return launch_early_with(0, kernel, grid, block, d, stream, arguments...);
}

} // namespace shunt
