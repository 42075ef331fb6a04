/* cublaslt_functions.h: what is called of cuBLASLt, which is never linked: a list for structs of
   pointers and for the loops that find them.  X gets each name.  */
#ifndef SHUNT_CUBLASLT_FUNCTIONS_H
#define SHUNT_CUBLASLT_FUNCTIONS_H

#include <cublasLt.h>

#define SHUNT_CUBLASLT_FUNCTIONS(X)                                                                \
  X(cublasLtCreate)                                                                                \
  X(cublasLtDestroy)                                                                               \
  X(cublasLtMatmul)                                                                                \
  X(cublasLtMatmulAlgoGetHeuristic)                                                                \
  X(cublasLtMatmulDescCreate)                                                                      \
  X(cublasLtMatmulDescDestroy)                                                                     \
  X(cublasLtMatmulDescSetAttribute)                                                                \
  X(cublasLtMatrixLayoutCreate)                                                                    \
  X(cublasLtMatrixLayoutDestroy)                                                                   \
  X(cublasLtMatmulPreferenceCreate)                                                                \
  X(cublasLtMatmulPreferenceDestroy)                                                               \
  X(cublasLtMatmulPreferenceSetAttribute)

#endif
