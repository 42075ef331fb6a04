/* vector_kernels.h: launchers for matrices with V x 1 column vectors: rows that share columns, in
   aligned groups of 8.  Some work on the caller's CSR in place, some on a packed copy.

   The rules of kernels/common/device.h.  */
#ifndef SHUNT_VECTOR_KERNELS_H
#define SHUNT_VECTOR_KERNELS_H

#include "kernels/guard/guard.h"
#include "kernels/vector/vector_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- SpMM in place: C = alpha A B + beta C, A in CSR ------------------------------------------
   A first small launch compares the column lists of every aligned group of 8 rows, on each call,
   so nothing is remembered and nothing can be out of date.  Equal lists (of 8, 4 or 2 rows) go to
   mma.m16n8k16 (f16, bf16; f32 accumulate) or to FMAs that share their load of B (f32, f64), the
   others row by row.  Right for any CSR, fast for V x 1 column vectors (SC'21, column-vector sparse
   encoding).  Types: f16 or bf16 into the same or f32, f32, f64.  No `only_if`.

   Small products of f16 and bf16 are one launch, of blocks that compare a group as they read it
   (kernels/vector/vector_csr_spmm_single_launch.cuh).  */
size_t shunt_vector_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_vector_csr_spmm_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                        void *workspace, size_t workspace_bytes,
                                        shunt_stream stream);
/* Is p such a small product?  Then a group is `blocks` blocks of so many warps, each with `tiles`
   tiles of 64 columns, which take `chunk` entries of a row at a time.  */
struct shunt_vector_single_launch {
  int warps, tiles, chunk, blocks;
};
bool shunt_vector_csr_spmm_single_launch(const struct shunt_spmm *p, const struct shunt_device *d,
                                         struct shunt_vector_single_launch *how);

/* ---- SDDMM in place: C.values = alpha (A B) at C's pattern + beta C.values ---------------------
   Groups of 8 rows with equal column lists on the tensor cores, others entry by entry.  Types: f16
   into f16 or f32, bf16 into bf16 or f32 (compute f32), f32.  A and B in any order: the workspace
   holds copies where the kernel wants the other one.  */
size_t shunt_vector_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d);
shunt_status shunt_vector_csr_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                         void *workspace, size_t workspace_bytes,
                                         shunt_stream stream);

/* ---- SpMM with A packed (kernels/vector/vector_format.h) ----------------------------------------

     C[m x n] = alpha A[m x k] B[k x n] + beta C

   Types: f16 or bf16, into the same or f32; f32 as TF32, where said; accumulation in f32.  A zero
   that only fills a vector up never meets a NaN or Inf of B in the result: a sum that became NaN is
   computed again from A's own entries, in the same launch.  The kernel lets the next one in the
   stream in early (kernels/common/early_launch.cuh).  */

enum {
  SHUNT_VECTOR_WARPS = 16,      /* that gather on a multiprocessor at one time */
  SHUNT_VECTOR_BLOCK_ROWS = 256 /* of a block with strips */
};

/* How a product is computed; all ways give right results.  Which is the fastest the caller has to
   know.

   rows == 0: direct.  A warp gathers rows of B for one group of 8 rows of A and `tile` (64 or
   128) columns.  2^log2_slices (0 .. 3) warps share a group.  pairs != 0: it takes two groups, and
   gathers once for both as far as their lists are alike, which 16 x 1 vectors make them; tile 128.
   rows == 256: a block owns 256 rows x tile of C and holds B's strips in shared memory for all
   its groups; needs compute capability 9.0 and the WINDOWED order.  */
struct shunt_vector_shape {
  int rows, tile, log2_slices, pairs;
};

/* Can a product be computed so, with A packed in this order? */
bool shunt_vector_packed_spmm_fits(const struct shunt_vector_shape *s,
                                   enum shunt_vector_order order, const struct shunt_device *d);

/* The direct shape whose warps are neither too many nor too few for the device, when A has so many
   vectors of 8 rows; of the height only 16 counts.  */
struct shunt_vector_shape shunt_vector_packed_spmm_gather(const struct shunt_spmm *p,
                                                          double vectors, int height,
                                                          const struct shunt_device *d);

/* Can the product be proved inside its own launch (shunt_vector_packed_spmm_proved_shaped_cuda)? */
bool shunt_vector_packed_spmm_proves(const struct shunt_spmm *p,
                                     const struct shunt_vector_shape *shape);

/* p->a gives sizes and types only; its arrays are not read.  v: made from a matrix of
   these sizes.  No `only_if`.  The workspace is needed for a copy of B when B is
   column-major or its rows or pointer are not multiples of 16 bytes.  */
size_t shunt_vector_packed_spmm_workspace(const struct shunt_spmm *p);
/* SHUNT_E_UNSUPPORTED when the shape does not fit. */
shunt_status shunt_vector_packed_spmm_shaped_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_vector *v,
                                                  const struct shunt_vector_shape *shape,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t workspace_bytes, shunt_stream stream);
/* C = alpha A B, and in the same launch what shunt_guard_repair_cuda(p, r) does behind a
   product: r->product is not looked at, none is needed; p->only_if has the meaning that it has
   there.  A's arrays are read.  v's are read before the kernel in front has ended: that one must
   not write them, and must have waited for the kernel that did.  brief: the next kernel may come in
   as soon as A is hashed, else when the product is there.  No workspace.  SHUNT_E_UNSUPPORTED, and
   nothing enqueued, where the shape is not a direct one of single groups, beta not 0 on the host,
   or B not to be read in place. */
shunt_status shunt_vector_packed_spmm_proved_shaped_cuda(const struct shunt_spmm *p,
                                                         const struct shunt_vector *v,
                                                         const struct shunt_vector_shape *shape,
                                                         bool brief, const struct shunt_guard *r,
                                                         const struct shunt_device *d,
                                                         shunt_stream stream);
/* The same for f32, whose operands are multiplied as TF32, rounded to 11 bits of mantissa: products
   == 1, about 1e-3 of a product off; or in three products of their upper and lower bits, products
   == 3: as exact as f32 (2^-20 of a product off, at random).  A in the WINDOWED order, compute
   capability 9.0, p->c of f32.  tile: columns of a block's part of C, 64 or 32.  */
bool shunt_vector_packed_spmm_tf32_takes(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_vector_packed_spmm_tf32_cuda(const struct shunt_spmm *p,
                                                const struct shunt_vector *v, int products,
                                                int tile, const struct shunt_device *d,
                                                void *workspace, size_t workspace_bytes,
                                                shunt_stream stream);
/* The twin, for all types: f32 as f32. */
shunt_status shunt_vector_packed_spmm_host(const struct shunt_spmm *p,
                                           const struct shunt_vector *v);

#ifdef __cplusplus
}
#endif
#endif
