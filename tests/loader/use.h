/* use.h: a program's use of cuSPARSE: descriptors, then each of the six functions once, then
   batches and BSR matrices, which are set and made where no handle is.  */
#ifndef LOADER_USE_H
#define LOADER_USE_H

#include <string.h>

#include "standin.h"

enum { USE_ROWS = 77, USE_CALLS = 6 };

/* With -DDIRECT: a call is told of whose function in the library did not return to this object
   itself, but to one between.  */
#ifdef DIRECT
#include <dlfcn.h>
#include <stdio.h>
extern const void *cusparseFakeReturnedTo(void);
static int use_indirect;
static cusparseStatus_t use_direct(cusparseStatus_t status, const char *call)
{
  static const char own[1];
  Dl_info to, here;
  if (!dladdr(cusparseFakeReturnedTo(), &to) || !dladdr(own, &here) ||
      to.dli_fbase != here.dli_fbase)
    use_indirect = 1, fprintf(stderr, "returned elsewhere: %.60s\n", call);
  return status;
}
#define CALLED(call) use_direct(call, #call)
#else
#define CALLED(call) (call)
#endif

/* 0: all setters reach the copy that made s, with their arguments and its statuses. */
static int use_batches(cusparseSpMatDescr_t s)
{
  int n = 0, status = (int)CALLED(cusparseCsrSetStridedBatch(s, 3, 78, 9));
  if (!status) status = (int)cusparseSpMatGetStridedBatch(s, &n);
  if (status) return status;
  if (n != 3 || s->offsets_stride != 78 || s->entries_stride != 9 || s->strides_by != s->copy)
    return -2;
  if (CALLED(cusparseCsrSetStridedBatch(s, 0, 1, 1)) != CUSPARSE_STATUS_INVALID_VALUE) return -3;
  s->strides_by = 0;
  status = (int)CALLED(cusparseCooSetStridedBatch(s, 4, 10));
  if (!status) status = (int)cusparseSpMatGetStridedBatch(s, &n);
  if (status) return status;
  if (n != 4 || s->entries_stride != 10 || s->strides_by != s->copy) return -4;
  status = (int)CALLED(cusparseCsrSetPointers(s, NULL, NULL, NULL));
  if (!status) status = (int)CALLED(cusparseCscSetPointers(s, NULL, NULL, NULL));
  if (!status) status = (int)CALLED(cusparseCooSetPointers(s, NULL, NULL, NULL));
  return status ? status : (int)CALLED(cusparseSpMatSetValues(s, NULL));
}

/* 0: both creators and the end of a matrix reach `copy`. */
static int use_bsr(int copy)
{
  cusparseSpMatDescr_t s;
  cusparseConstSpMatDescr_t c;
  int status = (int)CALLED(
      cusparseCreateBsr(&s, 3, 4, 5, 2, 2, NULL, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  if (status) return status;
  status = (int)CALLED(cusparseCreateConstBsr(
      &c, 3, 4, 5, 2, 2, NULL, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  if (status) return status;
  if (s->copy != copy || c->copy != copy || s->rows != 6) status = -5;
  if (CALLED(cusparseDestroySpMat(s)) || CALLED(cusparseDestroySpMat(c))) status = -6;
  return status;
}

/* 0, or the first status that is not a success, or -1 for a wrong buffer size. */
static int use_library(cusparseHandle_t h)
{
  cusparseSpMatDescr_t s;
  cusparseDnMatDescr_t d;
  size_t bytes = 0;
  float one = 1;
  const cusparseOperation_t n = CUSPARSE_OPERATION_NON_TRANSPOSE;
  int status = (int)cusparseCreateCsr(&s, USE_ROWS, 5, 9, NULL, NULL, NULL, CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_C_16F);
  if (status) return status;
  status = (int)cusparseCreateDnMat(&d, 5, 5, 5, NULL, CUDA_C_16F, CUSPARSE_ORDER_ROW);
  if (status) return status;
#define CALL(f, Alg, a, c, last)                                                                   \
  if (!status)                                                                                     \
  status = (int)CALLED(cusparse##f(h, n, n, &one, a, d, &one, c, CUDA_C_16F, Alg, last))
  CALL(SpMM_bufferSize, CUSPARSE_SPMM_ALG_DEFAULT, s, d, &bytes);
  CALL(SpMM_preprocess, CUSPARSE_SPMM_ALG_DEFAULT, s, d, NULL);
  CALL(SpMM, CUSPARSE_SPMM_ALG_DEFAULT, s, d, NULL);
  if (!status && bytes != (size_t)1000 + (size_t)h->copy) status = -1;
  CALL(SDDMM_bufferSize, CUSPARSE_SDDMM_ALG_DEFAULT, d, s, &bytes);
  CALL(SDDMM_preprocess, CUSPARSE_SDDMM_ALG_DEFAULT, d, s, NULL);
  CALL(SDDMM, CUSPARSE_SDDMM_ALG_DEFAULT, d, s, NULL);
  if (!status && bytes != (size_t)1000 + (size_t)h->copy) status = -1;
#undef CALL
  if (!status) status = use_batches(s);
  if (!status) status = use_bsr(h->copy);
  if (CALLED(cusparseDestroySpMat(s)) && !status) status = -7;
  cusparseDestroyDnMat(d);
  return status;
}

#endif
