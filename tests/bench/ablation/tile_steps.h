/* tile_steps.h: SpMM over the `tile` format by the kernels that "Using Sparse Tensor Cores for
   Sparse Matrix-Matrix Multiplication" (ETH Zurich, 2025) builds up step by step, for
   tests/gpu/ablation/test_ablation_tiles only: nothing of Shunt calls them.

     T      a warp for each 16 x 8 of C walks its block row's tiles: fragments of A and B straight
            from memory, mma
     BT     both operands through shared memory
     CBT    brought there by cp.async
     OBT    two buffers: the next tile comes while this one is multiplied
     ST     T, 2:4 tiles by mma.sp, both kinds in the order of their columns
     OBTS   OBT likewise
     SEP    OBTS, the 2:4 tiles first and the dense ones behind them (the separate layout)

   The first four want a matrix packed with SHUNT_TILE_DENSE.  fp16, f32 sums (the thesis: f16
   sums, B column-major), B and C row-major, n a multiple of 8, rows and pointers of both at
   multiples of 16 bytes; columns not merged.  SHUNT_E_UNSUPPORTED for anything else.  Zeros
   that fill tiles up never meet a NaN or Inf of B in the result.  */
#ifndef SHUNT_BENCH_TILE_STEPS_H
#define SHUNT_BENCH_TILE_STEPS_H

#include "kernels/common/device.h"
#include "kernels/tile/tile_format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shunt_tile_step {
  SHUNT_STEP_T,
  SHUNT_STEP_BT,
  SHUNT_STEP_CBT,
  SHUNT_STEP_OBT,
  SHUNT_STEP_ST,
  SHUNT_STEP_OBTS,
  SHUNT_STEP_SEP,
  SHUNT_STEPS
};

/* p->a gives sizes and types only. */
shunt_status shunt_ablation_tile_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                      enum shunt_tile_step step, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
