/* dense_kernels.h: launchers that multiply a dense copy of a sparse matrix, or sample a dense
   product.  The rules of kernels/common/device.h.  */
#ifndef SHUNT_DENSE_KERNELS_H
#define SHUNT_DENSE_KERNELS_H

#include "kernels/guard/guard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a product with a dense copy of A is computed; all ways give right results.  A tile of C has
   64 rows and 64 columns, and `split` (1, 2, 4) blocks share its K: one tile for each, all at once;
   or 128 rows and 64, 128 or 256 columns, and `split` is 1: as many tiles as there are.  */
struct shunt_dense_shape {
  int rows, columns, split;
};
/* How many tiles of 64 rows there are at one time, each by so many blocks, a cluster: those of four
   do not find room everywhere.  */
static inline int64_t shunt_dense_tiles_at_once(int split, const struct shunt_device *d)
{
  return split < 4 ? d->multiprocessors / split : d->multiprocessors * 3 / 16;
}

/* ---- SpMM ----------------------------------------------------------------------------------
   C = alpha D B, D the dense copy of p->a that an earlier call made (row-major), and in the same
   launch what shunt_guard_repair_cuda does behind a product (kernels/dense/dense_spmm_wgmma.cuh):
   r->product is not looked at, C is the product.  No workspace.  p->only_if has the meaning that
   it has for a repair.  f16, bf16 -> same or f32, compute f32, beta 0 and on the host.

   SHUNT_E_UNSUPPORTED, and nothing enqueued, for all else: other devices than compute capability
   9.0, D or B not on multiples of 16 bytes (address, and from row to row, of a column-major B from
   column to column), a build without sm_90a, and shapes that do not fit.  _takes: are build,
   device, A's type and beta such?  */
bool shunt_dense_spmm_proved_takes(const struct shunt_spmm *p, const struct shunt_device *d);
shunt_status shunt_dense_spmm_proved_cuda(const struct shunt_spmm *p,
                                          const struct shunt_dense *copy,
                                          const struct shunt_dense_shape *shape,
                                          const struct shunt_guard *r, const struct shunt_device *d,
                                          shunt_stream stream);

/* C = alpha D B in f32 by FMA (kernels/dense/dense_spmm_fma.cuh), D and B each row- or
   column-major.  The shape: tiles of 64 rows and 16, 32 or 64 columns, and `split` blocks, any
   number, that share a tile's K; with more than one, a workspace (kernels/common/device.h).
   SHUNT_E_UNSUPPORTED, and nothing enqueued, for other shapes and types, below compute capability
   8.0, and for D or B not on multiples of 16 bytes (address, and from line to line of memory).
   _takes: is all such, but for D?  Lets the next launch in, which must wait
   (kernels/common/early_launch.cuh): a repair stands behind it.  */
bool shunt_dense_spmm_fma_takes(const struct shunt_dense *b, const struct shunt_dense *c,
                                const struct shunt_device *on);
static inline size_t shunt_dense_spmm_fma_workspace(const struct shunt_dense *c, int split)
{
  const bool by_rows = c->col_stride == 1;
  const int64_t lines = by_rows ? c->rows : c->cols, across = by_rows ? c->cols : c->rows;
  return split > 1 ? (size_t)split * (size_t)lines * (size_t)((across + 3) / 4 * 4) * 4 : 0;
}
shunt_status shunt_dense_spmm_fma_cuda(const struct shunt_dense *d, const struct shunt_dense *b,
                                       const struct shunt_dense *c,
                                       const struct shunt_scalar *alpha,
                                       const struct shunt_dense_shape *shape, void *workspace,
                                       const struct shunt_device *on, shunt_stream stream);

/* ---- SDDMM -----------------------------------------------------------------------------------
   By the dense product, of which only what C's pattern names leaves the chip
   (kernels/dense/dense_sddmm_wgmma.cu): f16 and bf16 into the same or f32 on compute
   capability 9.0, beta 0, A row-major, A and B with rows of memory on 16 bytes;
   SHUNT_E_UNSUPPORTED otherwise.
   Rows that are not sorted come out right and slow.  _takes: whether it takes p.  */
bool shunt_dense_sddmm_takes(const struct shunt_sddmm *p, const struct shunt_device *d);
shunt_status shunt_dense_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                    shunt_stream stream);

/* C.values[p] = alpha D(i, j) + beta C.values[p] for every entry p = (i, j) of C: the second half
   of SDDMM through a dense product D (kernels/dense/dense_sddmm_sample.cu).  D is row-major, of
   type f32 or C's value type.  With `prescaled`, D already holds alpha A B and alpha is not applied
   again.  */
shunt_status shunt_dense_sddmm_sample_cuda(const struct shunt_sddmm *p,
                                           const struct shunt_dense *product, int prescaled,
                                           const struct shunt_device *d, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
