/* bsr_conv.h: matrices of square blocks to CSR: BSR and Blocked-ELL.

   From there every other format is made: a matrix of blocks of 8 (or a multiple) rows packs as
   whole 8 x 1 vectors (conv/vector/vector_conv.h, height 8), one of 4 with height 4.

     BSR           row_offsets 0 1 3    columns 1 | 0 2      values: a block after the other
     Blocked-ELL   columns  1 -1        values, row-major, [rows][width], blocks side by side:
                            0  2          a a . .
                                          a a . .      a: block (0, 1); none for -1
                                          b b c c
                                          b b c c

   Every element of a block becomes an entry, zeros included: 0 x NaN is NaN for them too.  Within
   a row, entries stand in the order of the blocks.  The same rules as conv/shunt_conv.h; whatever
   offsets and columns are, nothing outside of the arrays is touched, and what is wrong with
   them is wrong with the CSR as well.  */
#ifndef SHUNT_CONV_BLOCKS_H
#define SHUNT_CONV_BLOCKS_H

#include "conv/shunt_conv.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shunt_bsr {
  int64_t rows, cols, blocks; /* rows, cols: of elements, multiples of `block` */
  int64_t block;              /* rows and columns of one */
  const void *row_offsets;    /* [rows / block + 1] */
  const void *columns;        /* [blocks] */
  const void *values;         /* [blocks][block][block] */
  shunt_type index_type, value_type;
  int base;
  int column_major; /* within a block */
};

struct shunt_blocked_ell {
  int64_t rows, cols;
  int64_t block, width; /* width: elements of a stored row, a multiple of `block` */
  const void *columns;  /* [rows / block][width / block]; negative: no block */
  const void *values;   /* [rows][width] */
  shunt_type index_type, value_type;
  int base;
};

/* The sizes, types and base of the CSR, no arrays; its nnz is the room that its columns and values
   take: of Blocked-ELL's an upper bound, its last offset says how many there are.  rows < 0: it
   cannot be had (sizes that are no multiples, index type, 32-bit indices for more entries).  */
struct shunt_csr shunt_bsr_sizes(const struct shunt_bsr *a);
struct shunt_csr shunt_blocked_ell_sizes(const struct shunt_blocked_ell *a);

/* `to`: those sizes, and arrays, which are written.  SHUNT_E_ARGUMENT: other sizes.
   SHUNT_E_UNSUPPORTED: the sizes say so.  */
shunt_status shunt_bsr_to_csr_host(const struct shunt_bsr *a, const struct shunt_csr *to);
shunt_status shunt_bsr_to_csr_cuda(const struct shunt_bsr *a, const struct shunt_csr *to,
                                   const struct shunt_device *d, shunt_stream stream);

/* Device: 256-byte aligned scratch of so many bytes, else SHUNT_E_WORKSPACE. */
size_t shunt_blocked_ell_scratch_bytes(const struct shunt_blocked_ell *a);
shunt_status shunt_blocked_ell_to_csr_host(const struct shunt_blocked_ell *a,
                                           const struct shunt_csr *to);
shunt_status shunt_blocked_ell_to_csr_cuda(const struct shunt_blocked_ell *a,
                                           const struct shunt_csr *to, void *scratch,
                                           size_t scratch_bytes, const struct shunt_device *d,
                                           shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
