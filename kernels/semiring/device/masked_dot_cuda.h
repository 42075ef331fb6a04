/* masked_dot_cuda.h: T<M> = A B' over a semiring on the device, A, B and M sparse by row: a dot
   product of two sparse rows for each entry of M, and T's pattern.

     T(i,j) = sum over the k that row i of A and row j of B share of A(i,k) (x) B(j,k)

   Two steps, as only the first tells how large T is:

     M        row i | j0 j1 j2 j3 |                    columns, in ascending order
     counts         |  2  0  1  5 |   terms of each    shunt_masked_dot_cuda
     values         |  v  .  w  x |   their sums
     T        row i | j0 j2 j3 |                       shunt_masked_compact_cuda

   A part is up to 64, 128 or 512 entries of a row i of M.  Row i of A goes into shared memory and
   the rows j of B are looked up there, each by as many lanes as its length is worth:

     table  | k3 |    | k0 |    | k1 | k2 |            hash (k), then the next place on
     row j  | k0  k4  k1 |  ->   1 + 0 + 1

     parts of      row i                               where
     a warp        128 entries at most                 a table of columns and places
     a block       longer, 2048 at a time              the same, for sums
     a block       longer, 8192 at a time              a set of tags (masked_dot_tags.cuh), where
                                                       terms are counted

   A row j that is far longer, or meets a row i of many tables, is not read: the elements of the
   shorter row are sought in the longer one by halving.

   It is the shorter row that should be read, and the longer one that should be in the table:

     A and B one matrix, (x) commutes     T(i,j) is T(j,i): an entry (i,j) whose row j is longer
                                          is left to (j,i) if M has that; each pair is read once
     terms are counted, two matrices      such entries are listed by j, and computed with row j
                                          of B in the set and rows i of A looked up: turned

   Tables by degree are those of TRUST (Pandey et al., IEEE TPDS 32, 2021), halving is TriCore's
   (Hu, Liu and Huang, SC 2018).

   Which place of the table an element takes may differ from run to run; nothing else does: sums
   are added up in an order that follows from the lengths of rows.  */
#ifndef SHUNT_MASKED_DOT_CUDA_H
#define SHUNT_MASKED_DOT_CUDA_H

#include "kernels/common/device.h"
#include "kernels/semiring/semiring_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sparse matrix by row; indices ascend within a row. */
struct shunt_device_rows {
  int64_t rows, cols, nnz; /* each below 2^30 */
  const int32_t *offsets;  /* [rows + 1], from 0 */
  const int32_t *columns;  /* [nnz] */
  const void *values;      /* [nnz], or [1] of iso; not read of M, nor where not needed */
  bool iso;
};

/* m x n, m x k, n x k.  Without values terms are only counted, whatever the semiring.  With values:
   PLUS of TIMES, FIRST and SECOND in F32, F64, I32, I64 and U64.  */
struct shunt_masked_device {
  struct shunt_semiring semiring;
  struct shunt_device_rows m, a, b;
  bool one_matrix;  /* A and B are the same, values included where they are read */
  uint32_t *counts; /* [m.nnz] */
  void *values;     /* [m.nnz], undefined where counts are 0; NULL: counts are enough */
};
size_t shunt_masked_dot_workspace(const struct shunt_masked_device *p);
shunt_status shunt_masked_dot_cuda(const struct shunt_masked_device *p,
                                   const struct shunt_device *d, void *workspace, size_t bytes,
                                   shunt_stream stream);

/* Those of M's entries that have any terms, in their order.  values: of `size` bytes, 4 or 8, or
   NULL: none are wanted.  to_*: room for all of M's; to_offsets [m.rows + 1]. */
struct shunt_masked_compact {
  struct shunt_device_rows m;
  const uint32_t *counts;
  const void *values;
  size_t size;
  int32_t *to_offsets, *to_columns;
  void *to_values;
};
size_t shunt_masked_compact_workspace(const struct shunt_masked_compact *p);
shunt_status shunt_masked_compact_cuda(const struct shunt_masked_compact *p, void *workspace,
                                       size_t bytes, shunt_stream stream);

/* The slow, obviously right twins: the same over host memory. */
shunt_status shunt_masked_dot_host(const struct shunt_masked_device *p);
shunt_status shunt_masked_compact_host(const struct shunt_masked_compact *p);

#ifdef __cplusplus
}
#endif
#endif
