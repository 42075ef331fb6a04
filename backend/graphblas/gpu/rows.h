/* rows.h: a sparse operand on its way to the device: any form of struct shunt_sparse
   as rows with 32-bit indices.

     by row      offsets are made here, whole (hypersparse: empty rows filled in);
                 indices are narrowed and values copied piece by piece, on the way
     by column   transposed here by a stable counting sort, so columns ascend within
                 each row and results do not depend on the number of threads

   Of some rows alone, too (part.h): they are then counted from 0, and so are their entries.  */
#ifndef SHUNT_GRAPHBLAS_GPU_ROWS_H
#define SHUNT_GRAPHBLAS_GPU_ROWS_H

#include "backend/graphblas/gpu/resident.h"
#include "kernels/semiring/semiring_kernels.h"

struct grb_gpu_rows {
  const struct shunt_sparse *s; /* by row: columns and values are read from here, */
  int64_t base;                 /* from this entry on */
  int64_t row, rows;            /* the first row of S, and how many */
  size_t size;                  /* of a value */
  int32_t *offsets;             /* [rows + 1]; owned, like the next two */
  int32_t *columns;             /* NULL: from s */
  char *values;                 /* NULL: from s, or all the same */
  int64_t longest;              /* entries of the longest row */
  struct grb_gpu_chunks chunks;
  int64_t empty_count;
  int32_t *empty; /* the rows without entries; owned until taken away (set to NULL) */
};

/* Rows, columns, and entries of what is made at once stay below it. */
enum { GRB_GPU_MOST_INDEX = 1 << 30 };

struct grb_gpu_rows_wish {
  int64_t row, row_end; /* of S, row < row_end */
  size_t size;          /* of a value */
  bool values;          /* false: not needed */
  bool needs; /* which chunks of B each chunk meets; false: all of them, for all one knows */
};

/* SHUNT_E_MEMORY, or SHUNT_E_UNSUPPORTED for what does not fit.
   Uses `threads` OpenMP threads.  After a failure there is nothing to free.  */
shunt_status grb_gpu_rows_make(struct grb_gpu_rows *r, const struct shunt_sparse *s,
                               const struct grb_gpu_rows_wish *wish, int threads);
/* All rows, without longest, chunks and empty. */
shunt_status grb_gpu_rows_order(struct grb_gpu_rows *r, const struct shunt_sparse *s, size_t size,
                                bool values, int threads);
void grb_gpu_rows_free(struct grb_gpu_rows *r);

/* Entries first <= p < first + count. */
void grb_gpu_rows_columns(const struct grb_gpu_rows *r, int64_t first, int64_t count, int32_t *to);
void grb_gpu_rows_values(const struct grb_gpu_rows *r, int64_t first, int64_t count, void *to);

#endif
