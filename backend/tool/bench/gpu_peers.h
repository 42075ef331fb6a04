/* gpu_peers.h: cuSPARSE, cuBLAS and cuBLASLt as `shunt bench` holds them. */
#ifndef SHUNT_BENCH_GPU_PEERS_H
#define SHUNT_BENCH_GPU_PEERS_H

#define DISABLE_CUSPARSE_DEPRECATED
#include <cublas_v2.h>
#include <cusparse.h>

#include "backend/tool/bench/gpu.h"

/* clang-format off */
#define CUSPARSE_FUNCTIONS(X)                                                                      \
  X(cusparseCreate)                                                                                \
  X(cusparseDestroy)                                                                               \
  X(cusparseSetStream)                                                                             \
  X(cusparseSetPointerMode)                                                                        \
  X(cusparseGetVersion)                                                                            \
  X(cusparseCreateCsr)                                                                             \
  X(cusparseCreateBlockedEll)                                                                      \
  X(cusparseCreateDnMat)                                                                           \
  X(cusparseDestroySpMat)                                                                          \
  X(cusparseDestroyDnMat)                                                                          \
  X(cusparseSpMM_bufferSize)                                                                       \
  X(cusparseSpMM_preprocess)                                                                       \
  X(cusparseSpMM)                                                                                  \
  X(cusparseSDDMM_bufferSize)                                                                      \
  X(cusparseSDDMM_preprocess)                                                                      \
  X(cusparseSDDMM)
#define CUBLAS_FUNCTIONS(X)                                                                        \
  X(cublasCreate_v2)                                                                               \
  X(cublasDestroy_v2)                                                                              \
  X(cublasSetStream_v2)                                                                            \
  X(cublasSetWorkspace_v2)                                                                         \
  X(cublasSetPointerMode_v2)                                                                       \
  X(cublasGetVersion_v2)                                                                           \
  X(cublasGemmEx)                                                                                  \
  X(cublasSetMathMode)
/* clang-format on */
/* One line of a struct of pointers to them. */
#define MEMBER(f) __typeof__(&f) f;

struct gpu_cublaslt; /* gpu_cublaslt.c */

/* The libraries as far as they were found; a NULL handle means: not. */
struct gpu_peers {
  struct {
    CUSPARSE_FUNCTIONS(MEMBER)
  } sparse;
  struct {
    CUBLAS_FUNCTIONS(MEMBER)
  } blas;
  void *sparse_library, *blas_library, *blas_workspace;
  cusparseHandle_t sparse_handle;
  cublasHandle_t blas_handle;
  struct gpu_cublaslt *lt; /* NULL: not looked for yet */
  /* the cuSPARSE call being measured */
  cusparseSpMatDescr_t matrix;
  cusparseDnMatDescr_t first, second;
  int algorithm;
  void *buffer;
};

/* alpha or beta in the compute type, where the libraries look for it. */
struct gpu_scalars {
  union gpu_scalar host[2];
  const void *at[2]; /* alpha, beta: what to hand over */
};

/* The first of these that is here (NULL-terminated): the loader's, or the toolkit's. */
void *gpu_open_library(const char *const *names);
void gpu_cublaslt_close(struct gpu_cublaslt *lt);
/* The case's alpha and beta, on the host or on the device. */
void gpu_find_scalars(const struct gpu_case *g, struct gpu_scalars *s);
cudaDataType gpu_cuda_type(shunt_type t);
bool gpu_is_row_major(const struct shunt_dense *d);
int gpu_leading(const struct shunt_dense *d); /* dimension */

#endif
