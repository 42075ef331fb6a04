/* planner.h: problem in, work on the caller's stream out, or a reason.

   The planner asks every route, sorts those that fit by the time they expect,
   compares with what the original library is expected to need, and runs the
   best; if that fails before anything was written, the next; at last it
   declines, and the entry calls the original with its arguments unchanged.

   Until the profile of a matrix has come, which takes a few calls of a program that runs ahead of
   the device, the best route that needs none runs, even where the original is expected to be
   somewhat faster; but not in deterministic problems and in captured graphs, which stay as they
   were chosen.

   Deterministic problems.  Which way a product goes decides the order of its sums, and so its last
   bits.  As a rule that may change while a matrix settles: when its profile has arrived, and when a
   copy is there.  Both depend on how far the program runs ahead of the device.  Where the caller
   asks for the same bits on every run (problem.h), the route follows from two things alone: the
   problem, and the profile that the preprocess of its epoch made (preprocess waits for it).  What
   arrives later does not count, nor what was found of an earlier matrix at the same addresses.  No
   copies are kept for such problems, because there is no fixed moment at which the host learns
   whether a copy still matches.

   Called by the exported functions (backend/cusparse) and by the tool.  Thread-safe.  */
#ifndef SHUNT_PLANNER_H
#define SHUNT_PLANNER_H

#include <cuda_runtime_api.h>

#include "backend/plan/problem.h"

struct shunt_answer {
  struct shunt_outcome why; /* SHUNT_FITS: taken */
  const char *route;        /* name, or "original" */
  double us, saved_us;      /* expected of the way that runs, for the log; us 0: not known */
  double off;               /* the factor to which the original's time is known (costs.h) */
  struct shunt_outcome how; /* SHUNT_FITS, SHUNT_R_ORDERED or SHUNT_R_EXTENDED */
  bool written;             /* declined, but part of the result was enqueued: report an error */
};

/* Fills *out with p as routes see it: CSR unless it is in blocks, op_a 'T' where op(A) is the
   transpose of spmm.a, 'H' where that is conjugated, too; and batches that are one product are
   joined.  Another outcome than SHUNT_FITS: no route ever takes it, and *out is not to be used.  A
   pure function.  */
struct shunt_outcome shunt_plan_settle(const struct shunt_problem *p, struct shunt_problem *out);

/* Bytes of workspace that Shunt wants for p on the current device, less where its memory is short
   (workspace_limit.h); 0 when no route takes it.  *whole: not less, so no later answer for p is
   more.  May make a context's struct and open libraries unless `stream` is being captured.
   `library_path`: where the original lives, to look for cuBLAS.  */
size_t shunt_plan_ask(const struct shunt_problem *p, cudaStream_t stream, const char *library_path,
                      bool *whole);
static inline size_t shunt_plan_workspace(const struct shunt_problem *p, cudaStream_t stream,
                                          const char *library_path)
{
  bool whole;
  return shunt_plan_ask(p, stream, library_path, &whole);
}

/* Any route: the one that SHUNT_TUNE found the fastest, else the one that is expected to be.  (Not
   among the answers of tune.h.) */
enum { SHUNT_BEST_ROUTE = -3 };

/* Enqueues p on `stream`, or says why not.  `workspace` (256-byte aligned) is the
   caller's; NULL when there is none to be trusted.  `route`: SHUNT_BEST_ROUTE, or a row of the
   table, which runs whatever it is expected to take.  */
struct shunt_answer shunt_plan_run_by(const struct shunt_problem *p, int route, void *workspace,
                                      size_t workspace_bytes, cudaStream_t stream);
static inline struct shunt_answer shunt_plan_run(const struct shunt_problem *p, void *workspace,
                                                 size_t workspace_bytes, cudaStream_t stream)
{
  return shunt_plan_run_by(p, SHUNT_BEST_ROUTE, workspace, workspace_bytes, stream);
}

/* The invitation of cusparseSpMM_preprocess: profiles the pattern; of a deterministic problem it
   waits for the result.  Nothing while `stream` is being captured.  */
void shunt_plan_prepare(const struct shunt_problem *p, cudaStream_t stream);

#endif
