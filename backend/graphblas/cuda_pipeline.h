/* cuda_pipeline.h: one device's share of a product, from host memory to host memory.

   The work is two lists of tasks (cuda_tasks.h), of which any number of threads take the first:

     B task   host memory -> pinned slot -> (stream up) device
     C task   device (stream down) -> pinned slot -> host memory; the thread takes other
              tasks while the copy runs, and empties the slot later

   A task is ready when what it needs is enqueued: a piece of B once the products that read its
   place in the ring before are launched, a piece of C once its product is.  Every other thread
   rather takes pieces of C, the others rather pieces of B; each takes what is ready.

   Calls of CUDA take 5 to 20 us a piece, and many threads that wait for their turn at them keep
   the bus waiting (tests/bench/NOTES.md).  So a thread that has a copy to be made posts its slot, and
   goes on; it enqueues what is posted, its own and the others', if no other thread is at it.

   Whoever enqueues the last piece that a product needs launches it (cuda_launch.h) on the compute
   stream, if the products before it are launched and its place in the ring of C is free:

     up       B0 B1 B2 ......          B(u) waits for the products of b_ring_strips strips before
     compute     p0 p1 p2 ......       p(u) waits for its B, and for C(u - c_ring_blocks) to be down
     down           C0 C1 C2 ......    C(u) waits for p(u)

   A thread waits for others only while nothing is ready.  Then a piece is in another one's hands,
   for if all that was taken is enqueued, the first unit of C that is not down yet is launched, or
   needs pieces of B that are ready: so one thread suffices.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_PIPELINE_H
#define SHUNT_GRAPHBLAS_CUDA_PIPELINE_H

#include "backend/graphblas/cuda_run.h"

/* Lists the tasks.  The device is entered; its streams are idle.  Free it after a failure, too. */
shunt_status grb_cuda_run_make(struct grb_cuda_run *r);
/* Takes tasks until there are none; `number` and `lane` are the calling thread's alone.  `down`:
   rather pieces of C.  Enters and leaves the device itself.  */
void grb_cuda_run_work(struct grb_cuda_run *r, int number, char *lane, bool down);
/* Waits for everything that was enqueued, whatever happened. */
shunt_status grb_cuda_run_finish(struct grb_cuda_run *r);
void grb_cuda_run_free(struct grb_cuda_run *r);

#endif
