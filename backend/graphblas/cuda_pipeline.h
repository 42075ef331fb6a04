/* cuda_pipeline.h: one device's share of a product, from host memory to host memory.

   The work is a list of tasks (cuda_tasks.h), in an order in which each task needs only what stands
   before it.  Any number of threads take tasks from the list's head:

     B task   host memory -> pinned slot -> (stream up) device
     C task   device (stream down) -> pinned slot -> host memory; the thread takes other
              tasks while the copy runs, and empties the slot later

   Whoever enqueues the last piece that a product needs launches it (cuda_launch.h) on the compute
   stream, if the products before it are launched and its place in the ring of C is free:

     up       B0 B1 B2 ......          B(u) waits for the products of b_ring_strips strips before
     compute     p0 p1 p2 ......       p(u) waits for its B, and for C(u - c_ring_blocks) to be down
     down           C0 C1 C2 ......    C(u) waits for p(u)

   A thread waits for others only where the list's order guarantees that they get there, so one
   thread suffices.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_PIPELINE_H
#define SHUNT_GRAPHBLAS_CUDA_PIPELINE_H

#include "backend/graphblas/cuda_run.h"

/* Lists the tasks.  The device is entered; its streams are idle.  Free it after a failure, too. */
shunt_status grb_cuda_run_make(struct grb_cuda_run *r, int threads);
/* Takes tasks until there are none; `number` and `lane` are the calling thread's alone.  Enters and
   leaves the device itself.  */
void grb_cuda_run_work(struct grb_cuda_run *r, int number, char *lane);
/* Waits for everything that was enqueued, whatever happened. */
shunt_status grb_cuda_run_finish(struct grb_cuda_run *r);
void grb_cuda_run_free(struct grb_cuda_run *r);

#endif
