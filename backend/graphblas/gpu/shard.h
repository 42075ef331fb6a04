/* shard.h: the memory of one device's shard of a product: a part of it (part.h), which is some
   columns of B and C and all of S, or some rows of S and C and all of B.

     find      what is resident of S and B, proved fresh, is held
     make      memory for what is missing, a cut (gpu_cut.h)
     (run)     backend/graphblas/gpu/pipeline/pipeline.h
     keep      what may stay goes into the device's list, under its key
     release   everything else goes

   In this order; release whatever happened before.  Thread-safety: all of it between
   grb_gpu_enter and grb_gpu_leave of the shard's device, which nobody else uses, with its list
   of residents locked; release also where the device could not be entered.  */
#ifndef SHUNT_GRAPHBLAS_GPU_SHARD_H
#define SHUNT_GRAPHBLAS_GPU_SHARD_H

#include "backend/graphblas/gpu/pipeline/pipeline.h"
#include "backend/graphblas/gpu/view.h"

/* Looks for the part's rows of S and columns of B among the residents; what is found is proved, and
   dropped where it is stale.  r->whole and r->part are set.  */
void grb_gpu_shard_find(struct grb_gpu_run *r, struct grb_gpu_view *v);

/* `rows`: what S is uploaded from, where it is missing; it outlives the shard.  `full_c`: no row
   of S is empty, or C has no marks of what is present.  SHUNT_E_UNSUPPORTED: it does not fit.  */
shunt_status grb_gpu_shard_make(struct grb_gpu_run *r, struct grb_gpu_view *v,
                                const struct grb_gpu_rows *rows, bool full_c);

/* After a product that succeeded. */
void grb_gpu_shard_keep(struct grb_gpu_run *r, struct grb_gpu_view *v,
                        const struct grb_gpu_rows *rows);
void grb_gpu_shard_release(struct grb_gpu_run *r);

#endif
