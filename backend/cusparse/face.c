#include "backend/cusparse/face.h"

#include "backend/plan/log.h"
#include "backend/plan/promise.h"

bool face_take(struct face_call *call, void *buffer, cusparseStatus_t *status)
{
  bool described = call->answer.why.reason == SHUNT_FITS;
  if (described) {
    struct shunt_promise promise = shunt_promise_find(shunt_problem_hash(&call->problem));
    size_t bytes;
    void *workspace = shunt_promise_workspace(promise, buffer, &bytes);
    call->answer = shunt_plan_run(&call->problem, workspace, bytes, call->stream);
  } else {
    call->answer.route = "original";
  }
  shunt_log_decision(call->name, call->answer.route, call->answer.why,
                     described ? &call->problem : NULL, call->answer.saved_us);
  if (call->answer.written) {
    *status = CUSPARSE_STATUS_EXECUTION_FAILED;
    return true;
  }
  *status = CUSPARSE_STATUS_SUCCESS;
  return call->answer.why.reason == SHUNT_FITS;
}
