/* srbcrs_steps.h: int8 SpMM over the `srbcrs` format with B through shared memory, as SC'22 builds
   it up step by step ("Efficient Quantized Sparse Matrix Operations on Tensor Cores", Figure 11).
   For tests/gpu/ablation/test_ablation_integers only: nothing of Shunt calls them.

     BASIC           rows of B to shared memory, 64 bytes apart; columns are picked out of four rows
                     byte by byte, and these reads meet in two banks
     CONFLICT_FREE   rows 72 bytes apart, whose reads meet nowhere
     PREFETCH        the next stride's rows are on their way while one is multiplied

   Shunt's own kernel (kernels/srbcrs/srbcrs_spmm.cuh) is the next step: it prefetches, and
   transposes in registers, without shared memory.  The paper's last step, shuffled column indices
   of 4 bits, is no step here: nibbles are unpacked to bytes, and their order is the format's.

   C = A B in int32; B and C row-major, B's columns and row stride multiples of 8, its pointer at 8
   bytes.  SHUNT_E_UNSUPPORTED for anything else.  */
#ifndef SHUNT_BENCH_SRBCRS_STEPS_H
#define SHUNT_BENCH_SRBCRS_STEPS_H

#include "kernels/common/device.h"
#include "kernels/srbcrs/srbcrs_format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shunt_srbcrs_step {
  SHUNT_SRBCRS_BASIC,
  SHUNT_SRBCRS_CONFLICT_FREE,
  SHUNT_SRBCRS_PREFETCH,
  SHUNT_SRBCRS_STEPS
};

/* p->a gives sizes and types only. */
shunt_status shunt_ablation_srbcrs_cuda(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                                        enum shunt_srbcrs_step step, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
