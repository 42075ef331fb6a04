// ablation_cublas.cuh: the dense product on cuBLAS, opened by name if it is there.  Host code.
#pragma once
#include <cublas_v2.h>
#include <dlfcn.h>

#include "tests/bench/ablation/ablation_case.cuh"

namespace ablation
{

// cublasGemmEx: C++ has two of the name.
using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                  int, const void *, const void *, cudaDataType, int, const void *,
                                  cudaDataType, int, const void *, void *, cudaDataType, int,
                                  cublasComputeType_t, cublasGemmAlgo_t);

// cuBLAS, f16 with f32 accumulation, of an A that is stored dense.
class Cublas
{
  void *library = nullptr;
  cublasHandle_t handle = nullptr;
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  GemmEx gemm = nullptr;
  Buffer workspace{32 << 20};

  template <class F> bool find(F &f, const char *name)
  {
    f = reinterpret_cast<F>(dlsym(library, name));
    return f != nullptr;
  }

public:
  Cublas()
  {
    for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library || !find(create, "cublasCreate_v2") || !find(destroy, "cublasDestroy_v2") ||
        !find(set_stream, "cublasSetStream_v2") || !find(set_workspace, "cublasSetWorkspace_v2") ||
        !find(gemm, "cublasGemmEx") || create(&handle) != CUBLAS_STATUS_SUCCESS)
      handle = nullptr;
  }
  ~Cublas()
  {
    if (handle) destroy(handle);
    if (library) dlclose(library);
  }
  Cublas(const Cublas &) = delete;
  Cublas &operator=(const Cublas &) = delete;
  bool there() const { return handle != nullptr; }

  // C = A B for the B and C of q.  cuBLAS knows columns only: C^T = B^T A^T.
  bool multiply(const Case &q, const Buffer &dense, cudaStream_t stream) const
  {
    const float one = 1, zero = 0;
    const int m = (int)q.a.pattern.rows, k = (int)q.a.pattern.cols, n = (int)q.n;
    return set_stream(handle, stream) == CUBLAS_STATUS_SUCCESS &&
           set_workspace(handle, workspace.device, 32 << 20) == CUBLAS_STATUS_SUCCESS &&
           gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, q.b.device, CUDA_R_16F,
                (int)q.host.b.row_stride, dense.device, CUDA_R_16F, k, &zero, q.c.device,
                CUDA_R_16F, (int)q.host.c.row_stride, CUBLAS_COMPUTE_32F,
                CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
  }
};

// A, stored dense.
struct Dense : Buffer {
  explicit Dense(const Matrix &a) : Buffer((size_t)(a.pattern.rows * a.pattern.cols) * 2)
  {
    const Pattern &p = a.pattern;
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++)
        memcpy(&host[(size_t)(i * p.cols + p.columns[(size_t)e]) * 2], &a.values[(size_t)e * 2], 2);
    upload();
  }
};

} // namespace ablation
