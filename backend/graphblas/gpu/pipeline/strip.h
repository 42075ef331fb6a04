/* strip.h: a strip of columns of a dense matrix in host memory, and its packed form.

     by row     | line 0: row 0, columns first..last |   line_stride    length = columns
                | line 1                             |   = row_stride
     by column  line 0: the strip's first column, whole; length = rows

   Packed, the lines follow one another without gaps: element e of the strip is place
   e % length of line e / length.  Pieces are ranges of e, so that they may be of any size
   whatever the layout.  Pure functions on memory of the caller; thread-safe.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PIPELINE_STRIP_H
#define SHUNT_GRAPHBLAS_GPU_PIPELINE_STRIP_H

#include "kernels/semiring/semiring_kernels.h"

struct grb_gpu_strip {
  char *values; /* of the strip's first element */
  int64_t lines, length, line_stride;
  size_t size; /* of an element, 4 or 8 bytes */
};

/* Are whole columns contiguous? */
bool grb_gpu_by_column(const struct shunt_full *m);
/* Columns first <= j < last of m. */
struct grb_gpu_strip grb_gpu_strip(const struct shunt_full *m, int64_t first, int64_t last,
                                   size_t size);

/* Elements first <= e < first + count to and from `packed`. */
void grb_gpu_strip_read(const struct grb_gpu_strip *s, int64_t first, int64_t count, void *packed);
void grb_gpu_strip_write(const struct grb_gpu_strip *s, int64_t first, int64_t count,
                         const void *packed);
/* The strip += packed; f32 or f64 by size. */
void grb_gpu_strip_add(const struct grb_gpu_strip *s, int64_t first, int64_t count,
                       const void *packed);

#endif
