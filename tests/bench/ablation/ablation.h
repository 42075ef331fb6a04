/* ablation.h: SpMM over the `vector` format in the two ways that the octet mapping replaced
   (SC'21, "Efficient Tensor Core-Based GPU Kernels for Structured Sparsity under Reduced
   Precision", section 4).  For tests/bench/ablation_bench only: nothing of Shunt calls them.

     C[m x n] = alpha A[m x k] B[k x n] + beta C,     A packed (kernels/vector/vector_format.h)

   fp16 in and out, f32 accumulation.  B and C row-major, n a multiple of 8, rows and pointers
   of both at multiples of 16 bytes.  v->height (8, 4, 2) is V: a unit of work is V rows of A, as
   in the paper, and takes of a packed group of 8 rows the vectors that have an entry in them.
   Results are right whether or not the V rows share their columns; zeros that fill vectors up
   never meet a NaN or Inf of B in the result.

   p->a gives sizes and types only.  No workspace, no `only_if`.  The rules of
   kernels/common/device.h hold: work is enqueued on `stream`, nothing waits, nothing is
   allocated.  SHUNT_E_UNSUPPORTED for another type, layout or height, SHUNT_E_ARGUMENT for
   sizes that do not go together.  */
#ifndef SHUNT_BENCH_ABLATION_H
#define SHUNT_BENCH_ABLATION_H

#include "kernels/common/device.h"
#include "kernels/vector/vector_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1-D subwarp tiling without tensor cores: vector_fpu.cu. */
shunt_status shunt_ablation_fpu_cuda(const struct shunt_spmm *p, const struct shunt_vector *v,
                                     shunt_stream stream);
/* The classic warp tiling, A on the 16-side of the mma: vector_wmma.cu. */
shunt_status shunt_ablation_wmma_cuda(const struct shunt_spmm *p, const struct shunt_vector *v,
                                      shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
