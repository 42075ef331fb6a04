/* strides.h: batch strides of sparse matrices.

   cuSPARSE tells how many batches a sparse matrix has, but not how far they stand apart:
   cusparseCsrSetStridedBatch and cusparseCooSetStridedBatch have no getter.  So these two
   are exported and handed on (setters.c), and what they set is noted here; the setters of arrays
   are, too, so that a note follows its matrix.

   A descriptor may be destroyed and another be made at its address, whose strides are set
   where we do not see it (through dlsym on a handle).  So a note counts only for a matrix
   that is in everything else the one it was written for: library, number of batches,
   sizes, types and the addresses of all arrays.  Without a note that counts, the call
   goes to the original.

   Thread-safe.  */
#ifndef SHUNT_CUSPARSE_STRIDES_H
#define SHUNT_CUSPARSE_STRIDES_H

#include <cusparse.h>
#include <stdbool.h>

#include "kernels/common/types.h"

/* A sparse matrix with batches, as it can be read back. */
struct shunt_strided {
  cusparseConstSpMatDescr_t descriptor;
  const void *library; /* struct shunt_original: base */
  int batches;
  struct shunt_csr csr;    /* batch 0; row_offsets NULL for COO */
  const void *row_indices; /* COO */
};

/* Remembers the strides of m, in elements.  A note of the same descriptor is replaced. */
void shunt_strides_note(const struct shunt_strided *m, int64_t offsets, int64_t entries);
/* No note of this descriptor counts any more. */
void shunt_strides_forget(cusparseConstSpMatDescr_t descriptor);
/* False: there is no note. */
bool shunt_strides_find(const struct shunt_strided *m, int64_t *offsets, int64_t *entries);

#endif
