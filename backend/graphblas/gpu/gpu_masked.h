/* gpu_masked.h: the GPU engine for T<M> = A B' with sparse A, B and M in host memory
   (kernels/semiring/masked/masked.h), computed on the first GPU.

     host   A, B, M ----once----> device   rows and columns, kept under proof
            T's offsets <-------- device   counts or sums, T's pattern by a scan
            T's columns and values <-----  once there is memory for them

   Where M and T do not fit beside A and B, M's rows pass through in parts, and T is made on the
   host (masked/masked_parts.h): M may then be of any size.

   What stays on the device between calls, and its proof, are those of gpu_engine.h; what is the
   same matrix is sent once.  Of operands by column the rows are made on the host.

   Thread-safety as in gpu_engine.h.  */
#ifndef SHUNT_GRAPHBLAS_GPU_MASKED_H
#define SHUNT_GRAPHBLAS_GPU_MASKED_H

#include "backend/graphblas/identity.h"
#include "kernels/semiring/masked/masked.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which matrices M, A and B of the product were read from, epochs read before their arrays were.
   Whatever may not be kept has handle NULL, epoch 0, or read_only.  */
struct grb_masked_sources {
  struct grb_identity m, a, b;
};

/* Is the product worth the way to the GPU, where another way takes `otherwise` seconds?  `reads` as
   shunt_masked_dot_reads has them.  CUDA is started by this function, as by grb_gpu_wise.  */
bool grb_gpu_masked_wise(const struct shunt_masked_dot *x, const struct grb_masked_sources *from,
                         double reads, double otherwise);

struct grb_gpu_masked;
/* Computes; offsets [m.vectors + 1] as of shunt_masked_dot_begin.  What is not one product of
   counted terms is PLUS of TIMES, FIRST or SECOND in F32, F64, I32, I64 and U64.
   SHUNT_E_UNSUPPORTED: another, 2^30 or more rows, columns or entries of A or B, or no device.
   SHUNT_E_WORKSPACE: A and B are more than Shunt may take of the device.  After a failure there is
   nothing to finish.  offsets and x's arrays are read until the work is finished.  */
shunt_status grb_gpu_masked_begin(const struct shunt_masked_dot *x,
                                  const struct grb_masked_sources *from, uint64_t *offsets,
                                  struct grb_gpu_masked **work);
/* T's indices [offsets[m.vectors]] and as many values, or one of a uniform T; lets go of the work.
   NULL for both: only that.  */
shunt_status grb_gpu_masked_finish(struct grb_gpu_masked *work, uint64_t *indices, void *values);

#ifdef __cplusplus
}
#endif
#endif
