/* masked_seconds.h: what a masked product takes on the GPU, in seconds, copies counted.

     operands that are not there    rows and columns, and values where they are read
     product                        what `reads` elements, and each entry of M, take of memory
     T                              columns, and counts or values

   T is taken for as large as M.  Rates of the bus are the device's (cost.h).  That of the product
   is half of what its memory gives where terms are counted, and a quarter for sums: 0.9 to 1.1 of
   what R-MAT graphs take (graphs_gpu.md).
   Pure.  */
#ifndef SHUNT_GRAPHBLAS_GPU_MASKED_SECONDS_H
#define SHUNT_GRAPHBLAS_GPU_MASKED_SECONDS_H

#include "backend/graphblas/gpu/cost.h"
#include "kernels/semiring/masked/masked.h"

/* An operand's way up. */
double grb_gpu_masked_upload(const struct shunt_sparse *s, int64_t bytes,
                             const struct grb_gpu_rates *r, int threads);
/* The rest. */
double grb_gpu_masked_stream(const struct shunt_masked_dot *x, double reads,
                             const struct grb_gpu_rates *r);

#endif
