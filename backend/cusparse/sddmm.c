/* sddmm.c: cusparseSDDMM, cusparseSDDMM_bufferSize and cusparseSDDMM_preprocess; see
   spmm.c.  */
#include "backend/cusparse/describe.h"
#include "backend/cusparse/entry.h"
#include "backend/plan/planner.h"
#include "backend/plan/promise.h"

FACE_EXPORT cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                          cusparseOperation_t opB, const void *alpha,
                                          cusparseConstDnMatDescr_t matA,
                                          cusparseConstDnMatDescr_t matB, const void *beta,
                                          cusparseSpMatDescr_t matC, cudaDataType computeType,
                                          cusparseSDDMMAlg_t alg, size_t *bufferSize)
{
  FACE_ENTER(SDDMM_bufferSize, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
             bufferSize);
  struct cusparse_sddmm_arguments x = { handle, opA,  opB,  alpha,       matA,
                                        matB,   beta, matC, computeType, alg };
  struct shunt_problem p;
  cudaStream_t stream;
  cusparseStatus_t status = original->SDDMM_bufferSize(handle, opA, opB, alpha, matA, matB, beta,
                                                       matC, computeType, alg, bufferSize);
  if (status == CUSPARSE_STATUS_SUCCESS &&
      cusparse_describe_sddmm(original, &x, &p, &stream).reason == SHUNT_FITS)
    *bufferSize = shunt_promise_make(shunt_problem_hash(&p), *bufferSize,
                                     shunt_plan_workspace(&p, stream, original->path));
  FACE_LEAVE();
  return status;
}

/* The original on a call's own arguments. */
struct original_run {
  const struct cusparse_original *original;
  const struct cusparse_sddmm_arguments *x;
  cusparseSpMatDescr_t c;
  void *buffer;
};

static int run_original(void *context)
{
  const struct original_run *r = context;
  const struct cusparse_sddmm_arguments *x = r->x;
  return r->original->SDDMM(x->handle, x->op_a, x->op_b, x->alpha, x->a, x->b, x->beta, r->c,
                            x->compute, x->algorithm, r->buffer) != CUSPARSE_STATUS_SUCCESS;
}

FACE_EXPORT cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA,
                                          cusparseOperation_t opB, const void *alpha,
                                          cusparseConstDnMatDescr_t matA,
                                          cusparseConstDnMatDescr_t matB, const void *beta,
                                          cusparseSpMatDescr_t matC, cudaDataType computeType,
                                          cusparseSDDMMAlg_t alg, void *externalBuffer)
{
  FACE_ENTER(SDDMM_preprocess, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
             externalBuffer);
  struct cusparse_sddmm_arguments x = { handle, opA,  opB,  alpha,       matA,
                                        matB,   beta, matC, computeType, alg };
  struct shunt_problem p;
  cudaStream_t stream;
  cusparseStatus_t status = original->SDDMM_preprocess(handle, opA, opB, alpha, matA, matB, beta,
                                                       matC, computeType, alg, externalBuffer);
  if (status == CUSPARSE_STATUS_SUCCESS &&
      cusparse_describe_sddmm(original, &x, &p, &stream).reason == SHUNT_FITS)
    face_prepare(&p, externalBuffer, stream,
                 (struct shunt_original_run){
                     run_original, &(struct original_run){ original, &x, matC, externalBuffer } });
  FACE_LEAVE();
  return status;
}

FACE_EXPORT cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA,
                               cusparseOperation_t opB, const void *alpha,
                               cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB,
                               const void *beta, cusparseSpMatDescr_t matC,
                               cudaDataType computeType, cusparseSDDMMAlg_t alg,
                               void *externalBuffer)
{
  FACE_ENTER(SDDMM, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
             externalBuffer);
  struct cusparse_sddmm_arguments x = { handle, opA,  opB,  alpha,       matA,
                                        matB,   beta, matC, computeType, alg };
  struct face_call call = { .name = "cusparseSDDMM" };
  call.answer.why = cusparse_describe_sddmm(original, &x, &call.problem, &call.stream);
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  if (!face_take(&call, externalBuffer, &status))
    status = original->SDDMM(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
                             externalBuffer);
  FACE_LEAVE();
  return status;
}
