#include "backend/plan/tune/tuner.h"

#include <stdlib.h>

#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/device_memory.h"
#include "backend/plan/planner.h"
#include "backend/plan/tune/tune.h"
#include "backend/routes/route.h"

/* Enough for a profile to arrive and a plan to be kept, then enough for a median. */
enum { WARM = 4, TIMED = 7 };

/* One way to solve the problem: a route, or the original. */
struct way {
  const struct shunt_problem *problem;
  void *workspace;
  size_t workspace_bytes;
  cudaStream_t stream;
  int route; /* SHUNT_TUNE_ORIGINAL: */
  const struct shunt_original_run *original;
};

static shunt_status run_once(const struct way *w)
{
  if (w->route == SHUNT_TUNE_ORIGINAL)
    return w->original->run(w->original->context) == 0 ? SHUNT_OK : SHUNT_E_CUDA;
  struct shunt_answer a =
      shunt_plan_run_by(w->problem, w->route, w->workspace, w->workspace_bytes, w->stream);
  return a.why.reason == SHUNT_FITS ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static int by_size(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The median time of w, in microseconds. */
static shunt_status time_way(const struct way *w, cudaEvent_t begin, cudaEvent_t end, double *us)
{
  float ms[TIMED];
  shunt_status s = SHUNT_OK;
  for (int i = 0; s == SHUNT_OK && i < WARM; i++) {
    s = run_once(w);
    if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(w->stream));
  }
  for (int i = 0; s == SHUNT_OK && i < TIMED; i++) {
    s = SHUNT_CUDA(cudaEventRecord(begin, w->stream));
    if (s == SHUNT_OK) s = run_once(w);
    if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(end, w->stream));
    if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventSynchronize(end));
    if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventElapsedTime(&ms[i], begin, end));
  }
  if (s != SHUNT_OK) return s;
  qsort(ms, TIMED, sizeof ms[0], by_size);
  *us = 1000 * (double)ms[TIMED / 2];
  return SHUNT_OK;
}

/* The memory that every run writes. */
static void result_of(const struct shunt_problem *p, void **at, size_t *bytes)
{
  if (p->op == SHUNT_SDDMM) {
    const struct shunt_csr *c = &p->sddmm.c;
    *at = c->values;
    *bytes = (size_t)c->nnz * shunt_type_size(c->value_type);
    return;
  }
  const struct shunt_dense *c = &p->spmm.c;
  int64_t last = (c->rows - 1) * c->row_stride + (c->cols - 1) * c->col_stride;
  *at = c->values;
  *bytes = (size_t)(last + 1) * shunt_type_size(c->type);
}

/* False: the original itself could not be timed, so nothing can be compared. */
static bool compare(struct way *w, cudaEvent_t begin, cudaEvent_t end,
                    struct shunt_tune_answer *answer)
{
  double us;
  w->route = SHUNT_TUNE_ORIGINAL;
  if (time_way(w, begin, end, &us) != SHUNT_OK) return false;
  *answer = (struct shunt_tune_answer){SHUNT_TUNE_ORIGINAL, us, us};
  for (int i = 0; i < shunt_route_count(); i++) {
    w->route = i;
    if (time_way(w, begin, end, &us) != SHUNT_OK || us >= answer->us) continue;
    answer->winner = i;
    answer->us = us;
  }
  return true;
}

void shunt_tuner_measure(const struct shunt_problem *p, void *workspace, size_t workspace_bytes,
                         cudaStream_t stream, const struct shunt_original_run *original)
{
  struct shunt_context *context = shunt_context_find();
  struct way w = {p, workspace, workspace_bytes, stream, SHUNT_TUNE_ORIGINAL, original};
  struct shunt_tune_answer answer;
  cudaEvent_t begin = NULL, end = NULL;
  void *saved = NULL, *result;
  size_t bytes;
  if (!context || p->batches != 1 || shunt_capture_of(stream).active ||
      shunt_problem_check(p).reason != SHUNT_FITS || shunt_tune_find(p) != SHUNT_TUNE_UNKNOWN)
    return;
  result_of(p, &result, &bytes);
  const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  if (result && shunt_device_allocate(&saved, bytes, context->pool, stream) != SHUNT_OK)
    saved = NULL;
  if (saved &&
      SHUNT_CUDA(cudaMemcpyAsync(saved, result, bytes, cudaMemcpyDeviceToDevice, stream)) ==
          SHUNT_OK &&
      SHUNT_CUDA(cudaEventCreate(&begin)) == SHUNT_OK &&
      SHUNT_CUDA(cudaEventCreate(&end)) == SHUNT_OK) {
    if (compare(&w, begin, end, &answer)) shunt_tune_keep(p, answer);
    cudaMemcpyAsync(result, saved, bytes, cudaMemcpyDeviceToDevice, stream);
  }
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  if (saved) shunt_device_free(saved, stream);
  shunt_leave_relaxed(mode);
}
