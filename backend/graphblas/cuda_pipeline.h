/* cuda_pipeline.h: one device's share of a product, from host memory to host memory.

   The work is a list of tasks, pieces of at most a megabyte, in an order in which each task needs
   only what stands before it.  Any number of threads take tasks from the list's head:

     list    S.. | B0.. | B1.. | C0 B2 C0 B2 .. | C1 B3 C1 B3 .. | .. | C(n-1)..

   B and C come in units (cuda_plan.h), here units of C that need one more of B each.

     B task   host memory -> pinned slot -> (stream up) device
     C task   device (stream down) -> pinned slot -> host memory; the thread takes other
              tasks while the copy runs, and empties the slot later

   Whoever enqueues the last piece that a product needs launches it on the compute stream, if
   the products before it are launched and its place in the ring of C is free:

     up       B0 B1 B2 ......          B(u) waits for the products of b_ring_strips strips before
     compute     p0 p1 p2 ......       p(u) waits for its B, and for C(u - c_ring_blocks) to be down
     down           C0 C1 C2 ......    C(u) waits for p(u)

   A thread waits for others only where the list's order guarantees that they get there, so one
   thread suffices.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_PIPELINE_H
#define SHUNT_GRAPHBLAS_CUDA_PIPELINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/graphblas/cuda_device.h"
#include "backend/graphblas/cuda_plan.h"
#include "backend/graphblas/cuda_rows.h"

struct grb_cuda_task;

struct grb_cuda_run {
  /* Set by the caller, who owns all of it: */
  const struct shunt_host_spmm *p;
  struct grb_cuda_device *device;
  struct grb_cuda_plan plan;
  const struct grb_cuda_rows *rows; /* what S is uploaded from; NULL: it is on the device */
  struct grb_cuda_kept s;           /* S on the device */
  bool ones;                        /* all values of S count as 1 */
  char *b, *c;                      /* strips that are kept; NULL: in the block */
  char *block;                      /* plan.block_bytes */

  /* The run's own: */
  struct grb_cuda_task *tasks;
  int64_t task_count, piece_bytes;
  atomic_int_fast64_t next;
  pthread_mutex_t lock; /* what follows, and the order of what is enqueued */
  pthread_cond_t launch;
  int units, ahead;         /* strips times blocks; B is sent so many units sooner than needed */
  int64_t s_left;           /* pieces of S not enqueued yet */
  int64_t *b_left, *c_left; /* the same of each unit */
  int b_ready, b_awaited;   /* units of B: enqueued whole; the compute stream waits for */
  atomic_int launched;      /* products of units 0 .. launched - 1 */
  bool constant_filled;
  atomic_int status;        /* the first failure */
  unsigned char *committed; /* per task: C's piece was written */
  atomic_uint_fast64_t bytes_up, bytes_down;
};

/* Lists the tasks.  The device is entered; its streams are idle. */
shunt_status grb_cuda_run_make(struct grb_cuda_run *r, int threads);
/* Takes tasks until there are none; `number` and `lane` are the calling thread's alone.  Enters and
   leaves the device itself.  */
void grb_cuda_run_work(struct grb_cuda_run *r, int number, char *lane);
/* Waits for everything that was enqueued, whatever happened. */
shunt_status grb_cuda_run_finish(struct grb_cuda_run *r);
/* Has any piece of C been written? */
bool grb_cuda_run_committed(const struct grb_cuda_run *r);
/* Adds, on the host, the pieces of C += S (x) B that were not written. */
void grb_cuda_run_add_rest(const struct grb_cuda_run *r);
void grb_cuda_run_free(struct grb_cuda_run *r);

#endif
