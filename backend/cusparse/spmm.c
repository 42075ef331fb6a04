/* spmm.c: cusparseSpMM, cusparseSpMM_bufferSize and cusparseSpMM_preprocess as the
   program sees them.  Each reads its arguments, asks the planner, and hands what
   is not taken to the original with nothing changed.

   The caller's buffer: see backend/plan/promise.h.  */
#include "backend/cusparse/preprocess_epoch.h"
#include "backend/cusparse/describe.h"
#include "backend/cusparse/entry.h"
#include "backend/plan/planner.h"
#include "backend/plan/promise.h"

FACE_EXPORT cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                         cusparseOperation_t opB, const void *alpha,
                                         cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnMatDescr_t matB, const void *beta,
                                         cusparseDnMatDescr_t matC, cudaDataType computeType,
                                         cusparseSpMMAlg_t alg, size_t *bufferSize)
{
  FACE_ENTER(SpMM_bufferSize, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
             bufferSize);
  struct cusparse_spmm_arguments x = { handle, opA,  opB,  alpha,       matA,
                                       matB,   beta, matC, computeType, alg };
  struct shunt_problem p;
  cudaStream_t stream;
  cusparseStatus_t status = original->SpMM_bufferSize(handle, opA, opB, alpha, matA, matB, beta,
                                                      matC, computeType, alg, bufferSize);
  if (status == CUSPARSE_STATUS_SUCCESS &&
      cusparse_describe_spmm(original, &x, &p, &stream).reason == SHUNT_FITS)
    *bufferSize = shunt_promise_make(shunt_problem_hash(&p), *bufferSize,
                                     shunt_plan_workspace(&p, stream, original->path));
  FACE_LEAVE();
  return status;
}

/* The original on a call's own arguments. */
struct original_run {
  const struct cusparse_original *original;
  const struct cusparse_spmm_arguments *x;
  cusparseDnMatDescr_t c;
  void *buffer;
};

static int run_original(void *context)
{
  const struct original_run *r = context;
  const struct cusparse_spmm_arguments *x = r->x;
  return r->original->SpMM(x->handle, x->op_a, x->op_b, x->alpha, x->a, x->b, x->beta, r->c,
                           x->compute, x->algorithm, r->buffer) != CUSPARSE_STATUS_SUCCESS;
}

FACE_EXPORT cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                         cusparseOperation_t opB, const void *alpha,
                                         cusparseConstSpMatDescr_t matA,
                                         cusparseConstDnMatDescr_t matB, const void *beta,
                                         cusparseDnMatDescr_t matC, cudaDataType computeType,
                                         cusparseSpMMAlg_t alg, void *externalBuffer)
{
  FACE_ENTER(SpMM_preprocess, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
             externalBuffer);
  struct cusparse_spmm_arguments x = { handle, opA,  opB,  alpha,       matA,
                                       matB,   beta, matC, computeType, alg };
  struct shunt_problem p;
  cudaStream_t stream;
  const bool by_name = !cusparse_original_was_bound();
  cusparse_active_end(matA);
  cusparseStatus_t status = original->SpMM_preprocess(handle, opA, opB, alpha, matA, matB, beta,
                                                      matC, computeType, alg, externalBuffer);
  if (status == CUSPARSE_STATUS_SUCCESS &&
      cusparse_describe_spmm(original, &x, &p, &stream).reason == SHUNT_FITS) {
    face_prepare(&p, externalBuffer, stream,
                 (struct shunt_original_run){
                     run_original, &(struct original_run){ original, &x, matC, externalBuffer } });
    const struct cusparse_prepared prepared = { matA, original->base, externalBuffer, &p };
    if (by_name) cusparse_active_begin(&prepared);
  }
  FACE_LEAVE();
  return status;
}

FACE_EXPORT cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA,
                              cusparseOperation_t opB, const void *alpha,
                              cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                              const void *beta, cusparseDnMatDescr_t matC,
                              cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer)
{
  FACE_ENTER(SpMM, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
             externalBuffer);
  struct cusparse_spmm_arguments x = { handle, opA,  opB,  alpha,       matA,
                                       matB,   beta, matC, computeType, alg };
  struct face_call call = { .name = "cusparseSpMM" };
  call.answer.why = cusparse_describe_spmm(original, &x, &call.problem, &call.stream);
  if (call.answer.why.reason == SHUNT_FITS) {
    const struct cusparse_prepared prepared = { matA, original->base, externalBuffer, &call.problem };
    call.problem.pattern_epoch = cusparse_active_epoch(&prepared);
  }
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  if (!face_take(&call, externalBuffer, &status))
    status = original->SpMM(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
                            externalBuffer);
  FACE_LEAVE();
  return status;
}
