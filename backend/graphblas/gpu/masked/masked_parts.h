/* masked_parts.h: a masked product of which the device may not take all at once: M and T in parts
   of whole rows, while A and B stay there.

     device    A | B |   M's rows, counts, sums of part p   |   those of part p + 1   |
     bus               up: part p + 1, down: part p - 1            while p is computed
     host      counts [m.nnz], sums [m.nnz]

   M's columns are sent, unless A or B brings them.  T's pattern is made on the host, so that of an
   entry its count and sum alone come back (masked_host.h).  Where T is symmetric each pair is read
   twice all the same: (i,j) and (j,i) may be in different parts.  */
#ifndef SHUNT_GRAPHBLAS_GPU_MASKED_PARTS_H
#define SHUNT_GRAPHBLAS_GPU_MASKED_PARTS_H

#include "backend/graphblas/gpu/masked/masked_operands.h"

enum { GRB_GPU_PART_BUFFERS = 2 };

/* Rows first <= i < end of M, where they are on the device. */
struct grb_gpu_mask_part {
  int64_t first, end;
  int32_t *offsets, *columns; /* from 0 */
  uint32_t *counts;
  void *values, *workspace;
};

struct grb_gpu_parts {
  const struct shunt_masked_dot *x;
  struct grb_gpu_operands *operands;
  bool counted;     /* no sums */
  int64_t *begin;   /* [m.rows + 1]: M's entries by row */
  uint32_t *counts; /* [m.nnz], host memory; owned until taken away, like the next */
  char *values;     /* NULL where counted */
  int64_t room;     /* bytes that a buffer may have */
  int64_t bytes;    /* that it has: those of the largest part */
  char *memory;     /* all buffers */
  struct grb_gpu_mask_part part[GRB_GPU_PART_BUFFERS];
};

/* Device memory without which it is not worth while, A and B included. */
int64_t grb_gpu_parts_least(const struct shunt_masked_dot *x, const struct grb_gpu_operands *o,
                            bool counted);

/* Cuts M and allocates, in at most so many bytes of d's; x and o outlive it.  The device is
   entered, its residents are locked.  SHUNT_E_WORKSPACE: a row is too long.  To be freed in any
   case.  */
shunt_status grb_gpu_parts_make(struct grb_gpu_parts *p, const struct shunt_masked_dot *x,
                                struct grb_gpu_operands *o, bool counted, struct grb_gpu_device *d,
                                int64_t bytes);
/* Computes; A and B are there.  No device is entered.  *down: bytes that came back. */
shunt_status grb_gpu_parts_run(struct grb_gpu_parts *p, struct grb_gpu_devices *d, uint64_t *down);
/* As _make. */
void grb_gpu_parts_free(struct grb_gpu_parts *p, struct grb_gpu_device *d);

#endif
