/* pipeline.h: one device's share of a product, from host memory to host memory.

   The work is two lists of tasks (tasks.h), of which any number of threads take the first:

     B task   host memory -> pinned slot -> (stream up) device
     C task   device (stream down) -> pinned slot -> host memory; the thread does other
              things while the copy runs, and empties the slot later

   A task is ready when what it needs is enqueued (enqueue.h): a piece of B once the products
   that read its place in the ring before are launched, a piece of C once its product is.

     up       B0 B1 B2 ......          B(u) waits for the products of b_ring_strips strips before
     compute     p0 p1 p2 ......       p(u) waits for its B, and for C(u - c_ring_blocks) to be down
     down           C0 C1 C2 ......    C(u) waits for p(u)

   A thread has slots of its own for each way, so that B, which is ready long before the bus takes
   it, does not leave C without any.  A thread does whatever can be done.  If there is nothing, it
   makes pages of C (gpu/pages.h), or looks again, since being woken takes longer than most waits.

   What is pinned where it is (gpu/pins.h) needs a slot, too, but none of its memory.

   A thread waits for no other.  What is neither ready nor done is being worked on by another
   thread, or is on the device's streams.  One thread alone comes to the end, too: if all tasks that
   were taken are enqueued, the first unit of C that is not down yet has been launched, or needs
   pieces of B that are ready.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PIPELINE_PIPELINE_H
#define SHUNT_GRAPHBLAS_GPU_PIPELINE_PIPELINE_H

#include "backend/graphblas/gpu/pipeline/run.h"

/* Lists the tasks.  The device is entered; its streams are idle.  Free it after a failure, too. */
shunt_status grb_gpu_run_make(struct grb_gpu_run *r);
/* Takes tasks until there are none; `number` and `lane` are the calling thread's alone.  `down`:
   prefers emptying slots to filling them.  Enters and leaves the device itself.  */
void grb_gpu_run_work(struct grb_gpu_run *r, int number, char *lane, bool down);
/* Waits for everything that was enqueued, whatever happened.  Enters and leaves the device itself.
 */
shunt_status grb_gpu_run_finish(struct grb_gpu_run *r);
void grb_gpu_run_free(struct grb_gpu_run *r);

#endif
