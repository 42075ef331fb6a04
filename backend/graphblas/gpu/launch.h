/* launch.h: the product of one unit on the compute stream.

     wait for S (unit 0), the blocks of B that are needed, the unit's place in the ring of C
     B held by column: turned          S (x) B          C held by column: turned
     event: computed

   SHUNT_OK, or the first launch or call that failed.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_LAUNCH_H
#define SHUNT_GRAPHBLAS_CUDA_LAUNCH_H

#include "backend/graphblas/gpu/pipeline/run.h"

/* S with a row of more entries goes through the balanced kernel, which needs workspace
   (tests/bench/csr.md; backend/routes/csr.c).  */
enum { GRB_GPU_LONGEST_FOR_SPLIT = 16384 };

/* Units in ascending order, each once; everything that it waits for has been enqueued.  The device
   is entered, the run's lock is held.  */
shunt_status grb_gpu_launch(struct grb_gpu_run *r, int unit);

#endif
