/* sparse24_kernels.h: launchers of SpMM with A in the `sparse24` format
   (kernels/sparse24/sparse24_spmm_wgmma.cu).

     C[m x n] = alpha A[m x k] B[k x n] + beta C,    A packed (kernels/sparse24/sparse24_format.h)

   The rules of kernels/common/device.h hold.  Types: f16 or bf16, into the same or f32,
   accumulation in f32; int8 into int32, or into f32 computing in f32, accumulation in int32
   (wrapping).  */
#ifndef SHUNT_SPARSE24_KERNELS_H
#define SHUNT_SPARSE24_KERNELS_H

#include "kernels/guard/fingerprint.h"
#include "kernels/guard/guard.h"
#include "kernels/sparse24/sparse24_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* If a is 2:4, can its values be read in place? */
SHUNT_TILE_INLINE bool shunt_sparse24_in_place(const struct shunt_csr *a)
{
  return shunt_sparse24_full(a) && (uintptr_t)a->values % 16 == 0;
}
/* And can its pattern be proved by comparing columns, not by a hash? */
SHUNT_TILE_INLINE bool shunt_sparse24_compared(const struct shunt_csr *a)
{
  return shunt_sparse24_in_place(a) && a->base == 0 && (uintptr_t)a->columns % 16 == 0 &&
         a->cols >= 256 && a->rows < (int64_t)1 << 31 && a->rows * a->cols < (int64_t)1 << 31;
}
/* Whole tiles of A's columns, of SHUNT_FP_TILE bytes. */
SHUNT_TILE_INLINE int64_t shunt_sparse24_column_tiles(const struct shunt_csr *a)
{
  return shunt_sparse24_pieces(a) / (SHUNT_FP_PIECES * SHUNT_FP_LANES);
}

/* How a product is computed; all shapes give right results: columns of the tiles of C, of 128 rows,
   that a block takes.  Which is the fastest the caller has to know.  */
enum shunt_sparse24_shape {
  SHUNT_SPARSE24_NONE, /* no build for it */
  SHUNT_SPARSE24_128,  /* seven warps hash A */
  SHUNT_SPARSE24_256,  /* three do */
  SHUNT_SPARSE24_2X128 /* 256 by two products of 128, which take longer; seven hash */
};
SHUNT_TILE_INLINE int shunt_sparse24_shape_columns(enum shunt_sparse24_shape shape)
{
  return shape == SHUNT_SPARSE24_256 || shape == SHUNT_SPARSE24_2X128 ? 256 : 128;
}
/* Has this build the kernel? */
bool shunt_sparse24_spmm_built(void);

/* How A is proved in it.  Blocks with a tile of C less than others can take more of what is
   compared, by all their warps before they multiply: `spared` tiles of A's columns, of
   shunt_sparse24_column_tiles, in all. */
struct shunt_sparse24_proof {
  bool compares; /* else hashes */
  int spared;    /* 0 where it hashes */
};

/* The product with the copy v of p->a, and in the same launch the proof that v still stands for A
   and the repair if it does not (kernels/sparse24/sparse24_spmm_wgmma.cuh): C is computed from A
   itself, row by row, if A's fingerprint is not *r->expected, if *p->only_if is not 0, or if a sum
   became NaN, which zeros that fill v up may have caused.  What shunt_guard_repair_cuda says of the
   other words of r holds here, too.  r->product is where the product goes:

     C itself             C = alpha A B; beta 0 and on the host
     a f32 matrix W       (not for int32) W = A B; C is written by a repair only (then *r->repaired
                          is 1), else to be combined from W by shunt_guard_combine_cuda

   in_place: where every quad of A is full, and each row's values stand on 16 bytes
   (shunt_sparse24_in_place), A's array of values is what v holds of them, row-major.  It is read
   there, and of v the metadata only: *r->expected is then the fingerprint of A's pattern (of A
   with values NULL; r->of_values is false), and no sum becomes NaN by zeros, as there are none.
   Where proof->compares, the pattern is compared with v->positions instead.

   No workspace.  SHUNT_E_UNSUPPORTED, and nothing enqueued, for other types and scalars, other
   devices than compute capability 9.0, a B not on multiples of 16 bytes (address; from row to
   row, of a column-major B from column to column), a row-major B of int8, values that cannot be
   read in place, and a build without sm_90a.  SHUNT_E_ARGUMENT: a proof that compares what is not
   shunt_sparse24_compared and read in place, or spares more than there is.  */
shunt_status shunt_sparse24_spmm_shaped_cuda(const struct shunt_spmm *p,
                                             const struct shunt_sparse24 *v,
                                             enum shunt_sparse24_shape shape, bool in_place,
                                             const struct shunt_sparse24_proof *proof,
                                             const struct shunt_guard *r,
                                             const struct shunt_device *d, shunt_stream stream);
/* The twin, for any beta: decodes values and metadata as the instruction does, and computes
   sums that are NaN again from p->a's entries.  */
shunt_status shunt_sparse24_spmm_host(const struct shunt_spmm *p, const struct shunt_sparse24 *v);

#ifdef __cplusplus
}
#endif
#endif
