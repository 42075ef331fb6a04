/* spmm.c: cusparseSpMM, cusparseSpMM_bufferSize and cusparseSpMM_preprocess as the
   program sees them.  Each reads its arguments, asks the planner, and hands what
   is not taken to the original with nothing changed.

   The caller's buffer: see backend/plan/promise.h.  */
#include "backend/cusparse/describe.h"
#include "backend/cusparse/entry.h"
#include "backend/cusparse/preprocess_epoch.h"
#include "backend/plan/context.h"
#include "backend/plan/planner.h"

SHUNT_EXPORT cusparseStatus_t cusparseSpMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstSpMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta,
    cusparseDnMatDescr_t matC, cudaDataType computeType, cusparseSpMMAlg_t alg, size_t *bufferSize)
{
  SHUNT_ENTER(SpMM_bufferSize, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
              bufferSize);
  struct shunt_spmm_arguments x = {handle, opA,  opB,  alpha,       matA,
                                   matB,   beta, matC, computeType, alg};
  struct shunt_problem p;
  cudaStream_t stream;
  cusparseStatus_t status = original->SpMM_bufferSize(handle, opA, opB, alpha, matA, matB, beta,
                                                      matC, computeType, alg, bufferSize);
  if (shunt_entry_may_answer(status) &&
      shunt_describe_spmm(original, &x, &p, &stream).reason == SHUNT_FITS)
    status = shunt_entry_buffer_size(original, &p, status, bufferSize, stream);
  SHUNT_LEAVE();
  return status;
}

/* The original on a call's own arguments, or with another C. */
struct original_run {
  const struct shunt_original *original;
  const struct shunt_spmm_arguments *x;
  cusparseDnMatDescr_t c;
  void *buffer;
};

static int run_original(void *context)
{
  const struct original_run *r = context;
  const struct shunt_spmm_arguments *x = r->x;
  return r->original->SpMM(x->handle, x->op_a, x->op_b, x->alpha, x->a, x->b, x->beta, r->c,
                           x->compute, x->algorithm, r->buffer) != CUSPARSE_STATUS_SUCCESS;
}

/* The same, but into `memory`. */
static int run_original_into(void *context, void *memory)
{
  struct original_run r = *(const struct original_run *)context;
  const struct shunt_original *o = r.original;
  int64_t rows, cols, ld;
  const void *values;
  cudaDataType type;
  cusparseOrder_t order;
  if (!o->CreateDnMat || !o->DestroyDnMat ||
      o->ConstDnMatGet(r.x->c, &rows, &cols, &ld, &values, &type, &order) !=
          CUSPARSE_STATUS_SUCCESS ||
      o->CreateDnMat(&r.c, rows, cols, ld, memory, type, order) != CUSPARSE_STATUS_SUCCESS)
    return 1;
  const int failed = run_original(&r);
  o->DestroyDnMat(r.c);
  return failed;
}

SHUNT_EXPORT cusparseStatus_t
cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB,
                        const void *alpha, cusparseConstSpMatDescr_t matA,
                        cusparseConstDnMatDescr_t matB, const void *beta, cusparseDnMatDescr_t matC,
                        cudaDataType computeType, cusparseSpMMAlg_t alg, void *externalBuffer)
{
  SHUNT_ENTER(SpMM_preprocess, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
              externalBuffer);
  struct shunt_spmm_arguments x = {handle, opA,  opB,  alpha,       matA,
                                   matB,   beta, matC, computeType, alg};
  struct original_run run = {original, &x, matC, externalBuffer};
  struct shunt_entry_call call = {.library = original,
                                  .matrix = matA,
                                  .buffer = externalBuffer,
                                  .by_name = !shunt_original_was_bound()};
  shunt_epoch_end(matA);
  cusparseStatus_t status = original->SpMM_preprocess(handle, opA, opB, alpha, matA, matB, beta,
                                                      matC, computeType, alg, externalBuffer);
  call.answer.why = shunt_entry_may_answer(status)
                        ? shunt_describe_spmm(original, &x, &call.problem, &call.stream)
                        : SHUNT_OUTCOME(SHUNT_R_UNREADABLE);
  status = shunt_entry_preprocessed(&call, status, (struct shunt_original_run){run_original, &run});
  SHUNT_LEAVE();
  return status;
}

SHUNT_EXPORT cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t opA,
                                           cusparseOperation_t opB, const void *alpha,
                                           cusparseConstSpMatDescr_t matA,
                                           cusparseConstDnMatDescr_t matB, const void *beta,
                                           cusparseDnMatDescr_t matC, cudaDataType computeType,
                                           cusparseSpMMAlg_t alg, void *externalBuffer)
{
  SHUNT_ENTER(SpMM, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
              externalBuffer);
  struct shunt_spmm_arguments x = {handle, opA,  opB,  alpha,       matA,
                                   matB,   beta, matC, computeType, alg};
  struct original_run run = {original, &x, matC, externalBuffer};
  struct shunt_entry_call call = {.name = "cusparseSpMM",
                                  .caller = __builtin_return_address(0),
                                  .library = original,
                                  .matrix = matA,
                                  .buffer = externalBuffer,
                                  .by_name = !shunt_original_was_bound(),
                                  .original = {run_original_into, &run}};
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  call.answer.why = shunt_describe_spmm(original, &x, &call.problem, &call.stream);
  if (!shunt_entry_take(&call, &status))
    status = original->SpMM(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
                            externalBuffer);
  SHUNT_LEAVE();
  return status;
}
