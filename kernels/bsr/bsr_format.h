/* bsr_format.h: sparse matrices in square blocks, as cuSPARSE stores them: what has to be known
   besides their struct shunt_csr.  */
#ifndef SHUNT_BSR_FORMAT_H
#define SHUNT_BSR_FORMAT_H

#include <stdint.h>

/* The square blocks of a sparse matrix that is none of entries.  Its struct shunt_csr holds sizes
   in elements (nnz: those stored, zeros and padding included) and the arrays, whose indices are of
   blocks:

     BSR, wide == 0      row_offsets [rows / size + 1]   columns [blocks]
                         values [blocks][size][size], each block by row
     Blocked-ELL         row_offsets NULL   columns [rows / size][wide], negative: no block there
                         values [rows][wide * size], by row  */
struct shunt_block_shape {
  int64_t wide;
  int64_t size; /* rows and columns of a block; 0: the matrix is of entries */
};

#endif
