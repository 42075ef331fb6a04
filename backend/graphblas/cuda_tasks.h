/* cuda_tasks.h: the list of tasks of a run: pieces of at most a megabyte that go up or down.

     list    S.. | B0.. | B1.. | C0 B2 C0 B2 .. | C1 B3 C1 B3 .. | .. | C(n-1)..

   B and C come in units (cuda_units.h), here units of C that need one more of B each.  Each task
   needs only what stands before it, and C stands as early as that allows: both ways of the bus
   are in use as long as there is something left for both.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_TASKS_H
#define SHUNT_GRAPHBLAS_CUDA_TASKS_H

#include "backend/graphblas/cuda_run.h"

enum grb_cuda_source {
  GRB_CUDA_OFFSETS,
  GRB_CUDA_COLUMNS,
  GRB_CUDA_VALUES,
  GRB_CUDA_DENSE_UP,
  GRB_CUDA_DENSE_DOWN
};

/* Elements first <= e < first + count of an array of S, or of a strip. */
struct grb_cuda_task {
  enum grb_cuda_source what;
  int unit;
  int64_t first, count;
};

/* Chooses the pieces' size for so many threads and makes the list, with how many pieces of each
   unit are left to be enqueued: all.  SHUNT_E_MEMORY; free it all the same.  */
shunt_status grb_cuda_tasks_make(struct grb_cuda_run *r, int threads);
void grb_cuda_tasks_free(struct grb_cuda_run *r);

#endif
