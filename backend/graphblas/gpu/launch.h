/* launch.h: the product of one unit on the compute stream.

     wait for S (unit 0), the blocks of B that are needed, the unit's place in the ring of C
     B held by column: turned          S (x) B          C held by column: turned
     event: computed

   SHUNT_OK, or the first launch or call that failed.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_LAUNCH_H
#define SHUNT_GRAPHBLAS_CUDA_LAUNCH_H

#include "backend/graphblas/gpu/pipeline/run.h"
#include "backend/routes/long_rows.h"

/* Does S go through the balanced kernel, which needs workspace?  */
static inline bool grb_gpu_balanced(const struct grb_gpu_resident *s)
{
  return s->longest > SHUNT_LONGEST_FOR_SPLIT;
}

/* Units in ascending order, each once; everything that it waits for has been enqueued.  The device
   is entered, the run's lock is held.  */
shunt_status grb_gpu_launch(struct grb_gpu_run *r, int unit);

#endif
