#include "backend/cusparse/entry.h"

#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/log.h"
#include "backend/plan/promise.h"

/* What bufferSize's answers for a problem of this hash are known by on the current device. */
static uint64_t key_of(const struct shunt_original *o, uint64_t hash)
{
  const struct shunt_context *context = shunt_context_find();
  int device = 0;
  if (context)
    device = context->ordinal;
  else
    SHUNT_CUDA(cudaGetDevice(&device));
  return shunt_promise_key(hash, device, o->base);
}

bool shunt_entry_may_answer(cusparseStatus_t status)
{
  return status == CUSPARSE_STATUS_SUCCESS ||
         (status == CUSPARSE_STATUS_NOT_SUPPORTED && shunt_options()->extend);
}

bool shunt_entry_size_again(const struct shunt_original *o, const struct shunt_problem *p,
                            size_t *bytes, cudaStream_t stream)
{
  struct shunt_context *context = shunt_context_find();
  struct shunt_promise last;
  if (p->op != SHUNT_SDDMM || p->extended || p->deterministic || !context) return false;
  if (!shunt_promise_again(key_of(o, shunt_problem_hash(p)), *bytes, &last)) return false;
  if (last.own_bytes == 0) return true;
  if (shunt_capture_of(stream).active ||
      !shunt_workspace_limit_allows(&context->workspace_limit, last.own_bytes))
    return false;
  *bytes = last.own_offset + last.own_bytes;
  return true;
}

/* The original's bytes and ours. */
static size_t promise(const struct shunt_original *o, const struct shunt_problem *p, size_t bytes,
                      cudaStream_t stream)
{
  struct shunt_promise_answer a = {.library = o->base, .original_bytes = bytes};
  a.own_bytes = shunt_plan_ask(p, stream, o->path, &a.whole);
  return shunt_promise_make(key_of(o, shunt_problem_hash(p)), &a);
}

/* A promise of some room is what the later calls know by that the original has refused. */
static cusparseStatus_t extended_size(const struct shunt_original *o, const struct shunt_problem *p,
                                      cusparseStatus_t status, size_t *bytes, cudaStream_t stream)
{
  if (status != CUSPARSE_STATUS_NOT_SUPPORTED) return status;
  const size_t all = promise(o, p, 0, stream);
  if (all == 0) return status;
  *bytes = all;
  return CUSPARSE_STATUS_SUCCESS;
}

/* An answer counts although nothing is wanted now: buffers of its size may be about later. */
cusparseStatus_t shunt_entry_buffer_size(const struct shunt_original *o,
                                         const struct shunt_problem *p, cusparseStatus_t status,
                                         size_t *bytes, cudaStream_t stream)
{
  if (p->extended) return extended_size(o, p, status, bytes, stream);
  if (status != CUSPARSE_STATUS_SUCCESS) return status;
  *bytes = promise(o, p, *bytes, stream);
  return status;
}

static bool is_promised(const struct shunt_entry_call *call)
{
  return shunt_promise_find(key_of(call->library, call->hash)).own_bytes > 0;
}

/* Shunt's part of the program's buffer; NULL when there is none to be trusted. */
static void *workspace_for(const struct shunt_entry_call *call, size_t *bytes)
{
  return shunt_promise_workspace(shunt_promise_find(key_of(call->library, call->hash)),
                                 call->buffer, bytes);
}

static struct shunt_preprocessed preprocessed_of(const struct shunt_entry_call *call)
{
  return (struct shunt_preprocessed){call->matrix, call->library->base, call->buffer,
                                     &call->problem, call->hash};
}

/* The caller, if it may be looked for: never while the stream is captured. */
static const void *caller_of(const struct shunt_entry_call *call)
{
  return shunt_options()->report[0] && !shunt_capture_of(call->stream).active ? call->caller : NULL;
}

bool shunt_entry_take(struct shunt_entry_call *call, cusparseStatus_t *status)
{
  bool described = call->answer.why.reason == SHUNT_FITS;
  struct shunt_sample *sample = NULL;
  if (described) {
    size_t bytes;
    call->hash = shunt_problem_hash(&call->problem);
    const struct shunt_preprocessed prepared = preprocessed_of(call);
    const bool counts = call->problem.op == SHUNT_SPMM || call->problem.deterministic;
    if (call->by_name && counts) call->problem.pattern_epoch = shunt_epoch_of(&prepared);
    void *workspace = workspace_for(call, &bytes);
    sample = shunt_sample_begin(&call->problem, call->stream);
    call->answer = shunt_plan_run(&call->problem, workspace, bytes, call->stream);
  } else {
    call->answer.route = "original";
  }
  const bool taken = described && call->answer.why.reason == SHUNT_FITS;
  struct shunt_decision *decision = shunt_log_decision(
      call->name, call->answer.route, described ? call->answer.how : call->answer.why,
      described ? &call->problem : NULL,
      (struct shunt_log_call){.us = call->answer.us,
                              .saved_us = call->answer.saved_us,
                              .off = taken ? call->answer.off : 0,
                              .by_table = true,
                              .hash = call->hash,
                              .caller = caller_of(call)});
  if (taken)
    shunt_sample_end(sample, &call->problem, decision, call->answer.us + call->answer.saved_us,
                     &call->original);
  else
    shunt_sample_drop(sample);
  if (call->answer.written) {
    *status = CUSPARSE_STATUS_EXECUTION_FAILED;
    return true;
  }
  *status = CUSPARSE_STATUS_SUCCESS;
  return call->answer.why.reason == SHUNT_FITS;
}

/* ---- preprocess ------------------------------------------------------------------------------ */

/* The number of the epoch that begins, or 0.  What is not understood leaves the CUDA runtime
   alone. */
static uint64_t begin_epoch(const struct shunt_entry_call *call, bool described)
{
  const struct shunt_preprocessed m = preprocessed_of(call);
  if (described ? shunt_capture_of(call->stream).active : call->by_name)
    shunt_epoch_captured(call->matrix);
  else if (call->by_name)
    return shunt_epoch_begin(&m);
  return 0;
}

static void prepare(const struct shunt_entry_call *call, struct shunt_original_run original)
{
  size_t bytes;
  shunt_plan_prepare(&call->problem, call->stream);
  if (!shunt_options()->tune) return;
  void *workspace = workspace_for(call, &bytes);
  shunt_tuner_measure(&call->problem, workspace, bytes, call->stream, &original);
}

cusparseStatus_t shunt_entry_preprocessed(struct shunt_entry_call *call, cusparseStatus_t status,
                                          struct shunt_original_run original)
{
  const bool described = call->answer.why.reason == SHUNT_FITS;
  struct shunt_problem *p = &call->problem;
  if (described) call->hash = shunt_problem_hash(p);
  p->pattern_epoch = status == CUSPARSE_STATUS_SUCCESS ? begin_epoch(call, described) : 0;
  if (described && p->extended) {
    const bool answers = status == CUSPARSE_STATUS_NOT_SUPPORTED && is_promised(call);
    return answers ? CUSPARSE_STATUS_SUCCESS : status;
  }
  if (described && status == CUSPARSE_STATUS_SUCCESS) prepare(call, original);
  return status;
}
