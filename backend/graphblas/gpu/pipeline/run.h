/* run.h: one device's shard of a product while it is computed: its memory (gpu/shard.h), its tasks
   and how far they are (pipeline.h).  */
#ifndef SHUNT_GRAPHBLAS_GPU_PIPELINE_RUN_H
#define SHUNT_GRAPHBLAS_GPU_PIPELINE_RUN_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/graphblas/gpu/device.h"
#include "backend/graphblas/gpu/gpu_cut.h"
#include "backend/graphblas/gpu/pages.h"
#include "backend/graphblas/gpu/part.h"
#include "backend/graphblas/gpu/rows.h"

struct grb_gpu_task;
struct grb_gpu_slot;

struct grb_gpu_run {
  /* Set by the caller, who owns all of it: */
  const struct shunt_host_spmm *whole; /* the product, and the part of it that is computed here */
  struct grb_gpu_part part;
  struct shunt_host_spmm of_part; /* the part's rows as a product of their own (gpu/part.h): */
  const struct shunt_host_spmm *p;
  struct grb_gpu_device *device;
  struct grb_gpu_cut cut;
  const struct grb_gpu_rows *rows; /* what S is uploaded from; NULL: it is on the device */
  struct grb_gpu_resident s;       /* S on the device */
  struct grb_gpu_pages *pages;     /* of C, to be populated by threads that wait */
  bool ones;                       /* all values of S count as 1 */
  char *b, *c;                     /* strips that are kept; NULL: in the block */
  char *block;                     /* cut.block_bytes */
  char *samples; /* of B, for the proof of the pins, which are in host memory, from here on: */
  int64_t sample_first;      /* (backend/graphblas/gpu/proof.h) */
  char *b_pinned, *c_pinned; /* B and C in host memory, if the bus may take them there */

  /* What of S and B the device kept from earlier products, or NULL; bytes of the rest (shard.c): */
  struct grb_gpu_resident *kept_s, *kept_b;
  int64_t block_bytes, b_bytes, c_bytes;
  bool s_stays; /* S is to stay on the device, if it may */
  bool made;    /* set by the caller: grb_gpu_run_make has had its turn */

  /* The tasks (tasks.c): */
  struct grb_gpu_task *tasks; /* what goes up, then what comes down, each in its order */
  int64_t up_count, task_count;
  unsigned char *committed; /* per task: C's piece was written */
  int units;                /* strips times blocks */
  int64_t s_left;           /* pieces of S not enqueued yet; under `driver` */
  int64_t *b_left, *c_left; /* the same of each unit; under `driver` */

  /* The pipeline's own (pipeline.c): */
  atomic_int_fast64_t next_up, next_down;    /* tasks */
  pthread_mutex_t lock;                      /* of what is posted; held for no call of CUDA */
  struct grb_gpu_slot *posted, *posted_last; /* to be enqueued, the oldest first */
  /* Held by the thread that enqueues.  Others try it, and go on if it is taken. */
  pthread_mutex_t driver;
  int b_ready, b_awaited; /* units of B: enqueued whole; the compute stream waits for; `driver` */
  atomic_int launched;    /* products of units 0 .. launched - 1 */
  atomic_int status;      /* the first failure */
  atomic_uint_fast64_t bytes_up, bytes_down;
};

#endif
