/* proof.h: did the bus read and write the very memory that the program sees?

   An array may be freed by a call that is not seen here, and its pages mapped anew.  Then its pin
   (pins.h) still holds the old pages.  So after each product that went without slots samples are
   compared, 16 bytes in each MiB, at places that differ from product to product:

     B    what arrived on the device comes back and is what the processor reads
     C    a mark, which no product gives, was written before, and is gone after

   A pin that fails is let go of, and the product is done again through slots.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PROOF_H
#define SHUNT_GRAPHBLAS_GPU_PROOF_H

#include "backend/graphblas/gpu/pipeline/run.h"

enum { GRB_GPU_SAMPLE = 16, GRB_GPU_SAMPLE_EVERY = 1 << 20, GRB_GPU_MOST_SAMPLES = 4096 };

/* The largest array that is sampled, and so may be pinned. */
static inline int64_t grb_gpu_proof_most_bytes(void)
{
  return (int64_t)GRB_GPU_SAMPLE_EVERY * GRB_GPU_MOST_SAMPLES;
}

/* Before the product: chooses the places, and marks a C that is pinned.  `room` is pinned, for
   GRB_GPU_MOST_SAMPLES samples.  */
void grb_gpu_proof_begin(struct grb_gpu_run *r, char *room);
/* Once all of a pinned B is on its way up: its samples follow. */
shunt_status grb_gpu_proof_fetch_b(struct grb_gpu_run *r);
/* When all is over: true, or a pin is stale. */
bool grb_gpu_proof_holds(const struct grb_gpu_run *r);

#endif
