/* bsr_kernels.h: launchers of SpMM with A in square blocks, BSR or Blocked-ELL, read in place
   (kernels/bsr/bsr_spmm*.cu).

     C[m x n] = alpha A[m x k] B[k x n] + beta C,    p->a and *shape: struct shunt_block_shape

   The rules of kernels/common/device.h hold.  Every element of a block counts, stored zeros
   included (0 x NaN is NaN); a place of Blocked-ELL with a negative column holds no block, whatever
   its values are.  Types: f16 or bf16, into the same or f32, accumulated in f32; f32; f64; i8
   into i32, which wraps (compute i32), or f32 (compute f32; exact up to 1024 entries of a row).
   Blocks of 2, 4, 8, 16 or 32; a.values at a multiple of 16 bytes.  Nothing is kept, so nothing can
   be stale.  */
#ifndef SHUNT_BSR_KERNELS_H
#define SHUNT_BSR_KERNELS_H

#include "kernels/bsr/bsr_format.h"
#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that a.values must be a multiple of. */
enum { SHUNT_BSR_ALIGNMENT = 16 };

/* SHUNT_OK: there is a kernel for these types and sizes. */
shunt_status shunt_bsr_spmm_check(const struct shunt_spmm *p,
                                  const struct shunt_block_shape *shape);
/* For a copy of B where it is column-major or its rows are no multiples of 16 bytes. */
size_t shunt_bsr_spmm_workspace(const struct shunt_spmm *p);
/* No `only_if`. */
shunt_status shunt_bsr_spmm_cuda(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                                 const struct shunt_device *d, void *workspace,
                                 size_t workspace_bytes, shunt_stream stream);
/* How a warp's part is cut: `tile` columns, and the blocks of its row in 2^log2_slices parts,
   0 .. 3.  Tiles: 64 and 128 for 2-byte types (blocks of 32: 64), 32 to 128 for f32 and i8, 16 to
   64 for f64.  SHUNT_E_UNSUPPORTED when it does not fit.  */
shunt_status shunt_bsr_spmm_shaped_cuda(const struct shunt_spmm *p,
                                        const struct shunt_block_shape *shape, int tile,
                                        int log2_slices, const struct shunt_device *d,
                                        void *workspace, size_t workspace_bytes,
                                        shunt_stream stream);
/* The twin: any types, any size of blocks. */
shunt_status shunt_bsr_spmm_host(const struct shunt_spmm *p, const struct shunt_block_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
