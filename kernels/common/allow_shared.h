// allow_shared.h: shared memory beyond 48 KiB, which a kernel has to be allowed once in a context.
//
// cudaFuncSetAttribute takes 0.32 us, a tenth of a launch, and what it says is kept by the context,
// which the program may destroy.  Contexts have numbers that never repeat (cuCtxGetId, 0.02 us):
// the one in which a kernel was last allowed its memory is remembered.
#pragma once
#include <atomic>
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace shunt
{

// 0: not known.
inline unsigned long long current_context_id()
{
  using function = CUresult (*)(CUcontext, unsigned long long *);
  static std::atomic<function> known{nullptr};
  unsigned long long id = 0;
  function f = known.load(std::memory_order_acquire);
  if (!f) {
    void *symbol = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuCtxGetId", &symbol, 12000, cudaEnableDefault, &found) !=
            cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
      return 0;
    f = reinterpret_cast<function>(symbol);
    known.store(f, std::memory_order_release);
  }
  return f(nullptr, &id) == CUDA_SUCCESS ? id : 0;
}

// Kernel: a __global__ function that is always given so many bytes.
template <auto Kernel> inline cudaError_t allow_shared(int bytes)
{
  static std::atomic<unsigned long long> allowed_in{0};
  const unsigned long long id = current_context_id();
  if (id && allowed_in.load(std::memory_order_acquire) == id) return cudaSuccess;
  const cudaError_t e = cudaFuncSetAttribute(reinterpret_cast<const void *>(Kernel),
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (e == cudaSuccess) allowed_in.store(id, std::memory_order_release);
  return e;
}

} // namespace shunt
