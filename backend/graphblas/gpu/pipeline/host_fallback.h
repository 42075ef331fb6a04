/* host_fallback.h: what a run that failed did not write of C += S (x) B, computed on the host.

   Pieces that were written cannot be taken back, so the others are added, element by element.  That
   is slow, but nothing in it can fail.  For a run whose threads have ended, if it was made; no
   device is touched.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PIPELINE_HOST_FALLBACK_H
#define SHUNT_GRAPHBLAS_GPU_PIPELINE_HOST_FALLBACK_H

#include "backend/graphblas/gpu/pipeline/run.h"

/* Has any piece of C been written? */
bool grb_gpu_run_committed(const struct grb_gpu_run *r);
/* Adds the pieces of C += S (x) B that were not written; all of its part where none were listed. */
void grb_gpu_run_add_missing(const struct grb_gpu_run *r);
/* Adds a part that no run has begun. */
void grb_gpu_part_add(const struct shunt_host_spmm *p, const struct grb_gpu_part *part);

#endif
