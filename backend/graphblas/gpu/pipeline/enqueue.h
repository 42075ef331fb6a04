/* enqueue.h: copies and products of a run, put on the device's streams.

   Calls of CUDA take 5 to 20 us a piece, and many threads that wait for their turn at them keep
   the bus waiting (tests/bench/graphblas.md).  So a thread posts the slot that is to be copied.  If
   no other thread is enqueueing, it enqueues all that is posted, its own and the others'; then it
   goes on.

     thread 0   read, post | enqueue 0, 2, 1 ......... | read, post |
     thread 1   read ............ post | read .......................
     thread 2   read ....... post | read ............................

   The thread that enqueues the last piece that a product needs launches the product
   (backend/graphblas/gpu/launch.h), and the next ones that have all they need.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_ENQUEUE_H
#define SHUNT_GRAPHBLAS_CUDA_ENQUEUE_H

#include "backend/graphblas/gpu/pipeline/run.h"

enum grb_gpu_slot_state {
  SLOT_OWN,     /* its thread's: free, filled, or to be emptied */
  SLOT_POSTED,  /* waits to be enqueued; after a failure it becomes its thread's again */
  SLOT_ENQUEUED /* `done` says when the copy is over */
};

/* A piece in pinned memory. */
struct grb_gpu_slot {
  char *memory;
  cudaEvent_t done;
  const struct grb_gpu_task *task; /* what it is busy with; NULL: free */
  atomic_int state;
  struct grb_gpu_slot *next; /* posted after it */
};

/* Any thread, at any time: */
bool grb_gpu_failed(const struct grb_gpu_run *r);
void grb_gpu_fail(struct grb_gpu_run *r, shunt_status status);
/* Is what the task needs enqueued?  Once it is, it remains so. */
bool grb_gpu_task_ready(const struct grb_gpu_run *r, const struct grb_gpu_task *t);
/* The slot, whose task is ready and, on the way up, whose memory is filled, is enqueued sooner or
   later, by this thread or another; the device is entered.  Failures: grb_gpu_failed().  */
void grb_gpu_post(struct grb_gpu_run *r, struct grb_gpu_slot *slot);
/* Launches what has all it needs; `driver` is held, or nobody else knows the run yet. */
shunt_status grb_gpu_advance(struct grb_gpu_run *r);

#endif
