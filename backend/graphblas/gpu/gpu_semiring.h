/* gpu_semiring.h: which products the GPU engine computes, and what of S and B they read.

     multiplier   s (x) b   S's values   B's values
     TIMES          s b        read         read
     FIRST           s         read         not: 1
     SECOND          b        not: 1        read
     PAIR            1        not: 1       not: 1

   1 times b is b, NaN and Inf included, so one kernel multiplies for all four.  Pure functions.  */
#ifndef SHUNT_GRAPHBLAS_GPU_SEMIRING_H
#define SHUNT_GRAPHBLAS_GPU_SEMIRING_H

#include "kernels/semiring/semiring_kernels.h"

/* Is there a kernel for it, and does it fit 32-bit indices?  */
bool grb_gpu_built(const struct shunt_host_spmm *p);

/* Do all values of S count as 1? */
bool grb_gpu_ones(const struct shunt_host_spmm *p);

/* Is B one value: its own, or the 1 of FIRST and PAIR?  And which?  The latter reads b.values[0],
   except for those two.  */
bool grb_gpu_constant_b(const struct shunt_host_spmm *p);
double grb_gpu_constant_of_b(const struct shunt_host_spmm *p);

#endif
