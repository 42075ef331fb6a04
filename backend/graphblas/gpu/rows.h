/* rows.h: a sparse operand on its way to the device: any form of struct shunt_sparse
   as rows with 32-bit indices.

     by row      offsets are made here, whole (hypersparse: empty rows filled in);
                 indices are narrowed and values copied piece by piece, on the way
     by column   transposed here by a stable counting sort, so columns ascend within
                 each row and results do not depend on the number of threads  */
#ifndef SHUNT_GRAPHBLAS_GPU_ROWS_H
#define SHUNT_GRAPHBLAS_GPU_ROWS_H

#include "backend/graphblas/gpu/resident.h"
#include "kernels/semiring/semiring_kernels.h"

struct grb_gpu_rows {
  const struct shunt_sparse *s; /* by row: columns and values are read from here */
  size_t size;                  /* of a value */
  int32_t *offsets;             /* [rows + 1]; owned, like the next two */
  int32_t *columns;             /* NULL: from s */
  char *values;                 /* NULL: from s, or all the same */
  int64_t longest;              /* entries of the longest row */
  struct grb_gpu_chunks chunks;
  int64_t empty_count;
  int32_t *empty; /* the rows without entries; owned until taken away (set to NULL) */
};

enum { GRB_GPU_MOST_INDEX = 1 << 30 }; /* rows, columns and entries stay below it */

/* SHUNT_E_MEMORY, or SHUNT_E_UNSUPPORTED for what does not fit.  `values` false: not needed.
   Uses `threads` OpenMP threads.  After a failure there is nothing to free.  */
shunt_status grb_gpu_rows_make(struct grb_gpu_rows *r, const struct shunt_sparse *s, size_t size,
                               bool values, int threads);
/* The same without longest, chunks and empty. */
shunt_status grb_gpu_rows_order(struct grb_gpu_rows *r, const struct shunt_sparse *s, size_t size,
                                bool values, int threads);
void grb_gpu_rows_free(struct grb_gpu_rows *r);

/* Entries first <= p < first + count. */
void grb_gpu_rows_columns(const struct grb_gpu_rows *r, int64_t first, int64_t count, int32_t *to);
void grb_gpu_rows_values(const struct grb_gpu_rows *r, int64_t first, int64_t count, void *to);

#endif
