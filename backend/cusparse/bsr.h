/* bsr.h: what BSR matrices were made of.

   cuSPARSE has no getter for the arrays of a BSR matrix.  So cusparseCreateBsr,
   cusparseCreateConstBsr, cusparseSpMatSetValues and cusparseDestroySpMat are exported and handed
   on (setters.c), and what a matrix is made of is noted here for as long as it lives.

   A descriptor may be destroyed, and another made at its address, where we do not see it (through
   dlsym on a handle).  So a note counts only while the getters return what it says: sizes,
   base, address of the values.  Without a note that counts, the call goes to the original.

   Thread-safe.  */
#ifndef SHUNT_CUSPARSE_BSR_H
#define SHUNT_CUSPARSE_BSR_H

#include <cusparse.h>
#include <stdbool.h>
#include <stdint.h>

struct shunt_bsr {
  cusparseConstSpMatDescr_t descriptor;
  const void *library; /* struct shunt_original: base */
  int64_t block_rows, block_cols, blocks, size;
  const void *row_offsets, *columns, *values;
  cusparseIndexType_t offset_type, column_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseOrder_t order;
};

/* Remembers m; a note of the same descriptor is replaced. */
void shunt_bsr_note(const struct shunt_bsr *m);
/* No note of this descriptor counts any more. */
void shunt_bsr_forget(cusparseConstSpMatDescr_t descriptor);
/* False: there is no note. */
bool shunt_bsr_find(cusparseConstSpMatDescr_t descriptor, const void *library, struct shunt_bsr *m);

#endif
