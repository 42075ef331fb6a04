/* tasks.h: what is to be done in a run: pieces that fit a slot and go up or come down.

     up     S.. | B0.. | B1.. | B2.. | ..        S only where the device does not have it
     down   C0.. | C1.. | C2.. | ..

   B and C come in units (units.h).  Each of the two lists is worked off in its order, the two
   side by side: both ways of the bus are in use as long as there is something left for both.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PIPELINE_TASKS_H
#define SHUNT_GRAPHBLAS_GPU_PIPELINE_TASKS_H

#include "backend/graphblas/gpu/pipeline/run.h"

enum grb_gpu_source {
  GRB_GPU_OFFSETS,
  GRB_GPU_COLUMNS,
  GRB_GPU_VALUES,
  GRB_GPU_DENSE_UP,
  GRB_GPU_DENSE_DOWN
};

/* Elements first <= e < first + count of an array of S, or of a strip. */
struct grb_gpu_task {
  enum grb_gpu_source what;
  int unit;
  int64_t first, count;
};

/* The array that the task's elements are counted in, if the bus takes them there; NULL: the task
   needs a slot's memory.  */
static inline char *grb_gpu_task_pinned(const struct grb_gpu_run *r, const struct grb_gpu_task *t)
{
  return t->what == GRB_GPU_DENSE_UP     ? r->b_pinned
         : t->what == GRB_GPU_DENSE_DOWN ? r->c_pinned
                                         : NULL;
}

/* Makes the lists, with how many pieces of each unit are left to be enqueued: all.  SHUNT_E_MEMORY;
   free it all the same.  */
shunt_status grb_gpu_tasks_make(struct grb_gpu_run *r);
void grb_gpu_tasks_free(struct grb_gpu_run *r);

#endif
