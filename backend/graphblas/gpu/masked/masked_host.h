/* masked_host.h: T from the counts and sums of M's entries in host memory.

     M         row i | j0 j1 j2 j3 |
     counts          |  2  0  1  5 |     what is 0 does not exist
     T         row i | j0 j2 j3 |

   Pure.  */
#ifndef SHUNT_GRAPHBLAS_GPU_MASKED_HOST_H
#define SHUNT_GRAPHBLAS_GPU_MASKED_HOST_H

#include "kernels/semiring/masked/masked.h"

struct grb_gpu_host_counts {
  struct shunt_sparse m;
  shunt_type type;
  const uint32_t *counts; /* [m.nnz] */
  const char *values;     /* [m.nnz]; NULL: *term, times the count unless T is uniform */
  const uint64_t *term;
  bool uniform;
  int threads;
};

/* Where T's vectors begin, [m.vectors + 1]. */
void grb_gpu_host_offsets(const struct grb_gpu_host_counts *h, uint64_t *offsets);
/* T's indices, and values; of a uniform T the one that is there already stays. */
void grb_gpu_host_entries(const struct grb_gpu_host_counts *h, const uint64_t *offsets,
                          uint64_t *indices, void *values);

#endif
