/* sddmm.c: cusparseSDDMM, cusparseSDDMM_bufferSize and cusparseSDDMM_preprocess; see
   spmm.c.  */
#include <stdatomic.h>

#include "backend/cusparse/describe.h"
#include "backend/cusparse/entry.h"
#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/planner.h"

/* C of the last bufferSize that asked what was asked before: PyTorch calls bufferSize, preprocess
   and the product for each product.  Threads may take each other's place here: then preprocess
   does what it need not do.  */
static _Atomic(cusparseConstSpMatDescr_t) asked_again;

SHUNT_EXPORT cusparseStatus_t cusparseSDDMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta,
    cusparseSpMatDescr_t matC, cudaDataType computeType, cusparseSDDMMAlg_t alg, size_t *bufferSize)
{
  SHUNT_ENTER(SDDMM_bufferSize, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
              bufferSize);
  struct shunt_sddmm_arguments x = {handle, opA,  opB,  alpha,       matA,
                                    matB,   beta, matC, computeType, alg};
  struct shunt_problem p;
  cudaStream_t stream;
  cusparseStatus_t status = original->SDDMM_bufferSize(handle, opA, opB, alpha, matA, matB, beta,
                                                       matC, computeType, alg, bufferSize);
  if (shunt_entry_may_answer(status) &&
      shunt_describe_sddmm(original, &x, &p, &stream).reason == SHUNT_FITS) {
    const bool again = status == CUSPARSE_STATUS_SUCCESS &&
                       shunt_entry_size_again(original, &p, bufferSize, stream);
    atomic_store_explicit(&asked_again, again ? matC : NULL, memory_order_relaxed);
    if (!again) status = shunt_entry_buffer_size(original, &p, status, bufferSize, stream);
  }
  SHUNT_LEAVE();
  return status;
}

/* The original on a call's own arguments. */
struct original_run {
  const struct shunt_original *original;
  const struct shunt_sddmm_arguments *x;
  cusparseSpMatDescr_t c;
  void *buffer;
};

static int run_original(void *context)
{
  const struct original_run *r = context;
  const struct shunt_sddmm_arguments *x = r->x;
  return r->original->SDDMM(x->handle, x->op_a, x->op_b, x->alpha, x->a, x->b, x->beta, r->c,
                            x->compute, x->algorithm, r->buffer) != CUSPARSE_STATUS_SUCCESS;
}

/* The same, but into `memory`, with C's pattern.  Where the original wants a buffer, C's own may be
   active: nothing is measured there.  */
static int run_original_into(void *context, void *memory)
{
  struct original_run r = *(const struct original_run *)context;
  const struct shunt_original *o = r.original;
  const struct shunt_sddmm_arguments *x = r.x;
  int64_t rows, cols, nnz;
  const void *offsets, *columns, *values;
  cusparseIndexType_t offset_type, column_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  size_t bytes = 1;
  if (!o->CreateCsr || !o->DestroySpMat || !o->SDDMM_bufferSize ||
      o->ConstCsrGet(x->c, &rows, &cols, &nnz, &offsets, &columns, &values, &offset_type,
                     &column_type, &base, &type) != CUSPARSE_STATUS_SUCCESS ||
      o->CreateCsr(&r.c, rows, cols, nnz, (void *)offsets, (void *)columns, memory, offset_type,
                   column_type, base, type) != CUSPARSE_STATUS_SUCCESS)
    return 1;
  const bool free_of_buffer =
      o->SDDMM_bufferSize(x->handle, x->op_a, x->op_b, x->alpha, x->a, x->b, x->beta, r.c,
                          x->compute, x->algorithm, &bytes) == CUSPARSE_STATUS_SUCCESS &&
      bytes == 0;
  const int failed = !free_of_buffer || run_original(&r);
  o->DestroySpMat(r.c);
  return failed;
}

/* Does preprocess have nothing to do but to end the epoch?  The pattern was asked for a profile by
   an earlier call, or will be by the product; epochs of SDDMM count for deterministic problems.  */
static bool is_prepared(const struct shunt_original *o, cusparseHandle_t handle,
                        cusparseSpMatDescr_t c)
{
  cudaStream_t stream;
  return c && atomic_load_explicit(&asked_again, memory_order_relaxed) == c &&
         !shunt_options()->tune && o->GetStream &&
         o->GetStream(handle, &stream) == CUSPARSE_STATUS_SUCCESS &&
         !shunt_capture_of(stream).active;
}

SHUNT_EXPORT cusparseStatus_t cusparseSDDMM_preprocess(
    cusparseHandle_t handle, cusparseOperation_t opA, cusparseOperation_t opB, const void *alpha,
    cusparseConstDnMatDescr_t matA, cusparseConstDnMatDescr_t matB, const void *beta,
    cusparseSpMatDescr_t matC, cudaDataType computeType, cusparseSDDMMAlg_t alg,
    void *externalBuffer)
{
  SHUNT_ENTER(SDDMM_preprocess, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
              externalBuffer);
  struct shunt_sddmm_arguments x = {handle, opA,  opB,  alpha,       matA,
                                    matB,   beta, matC, computeType, alg};
  struct original_run run = {original, &x, matC, externalBuffer};
  struct shunt_entry_call call = {.library = original,
                                  .matrix = matC,
                                  .buffer = externalBuffer,
                                  .by_name = !shunt_original_was_bound()};
  shunt_epoch_end(matC);
  cusparseStatus_t status = original->SDDMM_preprocess(handle, opA, opB, alpha, matA, matB, beta,
                                                       matC, computeType, alg, externalBuffer);
  if (!is_prepared(original, handle, matC)) {
    call.answer.why = shunt_entry_may_answer(status)
                          ? shunt_describe_sddmm(original, &x, &call.problem, &call.stream)
                          : SHUNT_OUTCOME(SHUNT_R_UNREADABLE);
    status =
        shunt_entry_preprocessed(&call, status, (struct shunt_original_run){run_original, &run});
  }
  SHUNT_LEAVE();
  return status;
}

SHUNT_EXPORT cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t opA,
                                            cusparseOperation_t opB, const void *alpha,
                                            cusparseConstDnMatDescr_t matA,
                                            cusparseConstDnMatDescr_t matB, const void *beta,
                                            cusparseSpMatDescr_t matC, cudaDataType computeType,
                                            cusparseSDDMMAlg_t alg, void *externalBuffer)
{
  SHUNT_ENTER(SDDMM, handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
              externalBuffer);
  struct shunt_sddmm_arguments x = {handle, opA,  opB,  alpha,       matA,
                                    matB,   beta, matC, computeType, alg};
  struct original_run run = {original, &x, matC, externalBuffer};
  struct shunt_entry_call call = {.name = "cusparseSDDMM",
                                  .caller = __builtin_return_address(0),
                                  .library = original,
                                  .matrix = matC,
                                  .buffer = externalBuffer,
                                  .by_name = !shunt_original_was_bound(),
                                  .original = {run_original_into, &run}};
  cusparseStatus_t status = CUSPARSE_STATUS_SUCCESS;
  call.answer.why = shunt_describe_sddmm(original, &x, &call.problem, &call.stream);
  if (!shunt_entry_take(&call, &status))
    status = original->SDDMM(handle, opA, opB, alpha, matA, matB, beta, matC, computeType, alg,
                             externalBuffer);
  SHUNT_LEAVE();
  return status;
}
