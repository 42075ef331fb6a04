/* units.h: the units of a run: how large they are, and where they are on the device.

   A unit is a block of rows of a strip of columns (gpu/gpu_cut.h): unit = strip * blocks + i.
   A strip's elements have one order in host memory and in what is copied (strip.h), and a
   unit is a range of them, first <= e < last:

     by row      | block 0 .. | block 1 .. | block 2 .. |    unit i: block c_order[i], or b_order[i]
     by column   |            block 0 ..                |    one unit

   Pure functions of the run.  `s`: a strip; `of_b`: a unit of B, else of C.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PIPELINE_UNITS_H
#define SHUNT_GRAPHBLAS_GPU_PIPELINE_UNITS_H

#include "backend/graphblas/gpu/pipeline/run.h"
#include "backend/graphblas/gpu/pipeline/strip.h"

/* Bytes of an element. */
size_t grb_gpu_element(const struct grb_gpu_run *r);
int64_t grb_gpu_strip_columns(const struct grb_gpu_run *r, int s);
/* Strip s of B or C, `m`, in host memory. */
struct grb_gpu_strip grb_gpu_host_strip(const struct grb_gpu_run *r, const struct shunt_full *m,
                                        int s);
int grb_gpu_strip_of(const struct grb_gpu_run *r, int unit);

/* Where a unit's block begins, in rows; `end` 1: where it ends. */
int64_t grb_gpu_unit_row(const struct grb_gpu_run *r, bool of_b, int unit, int end);
/* The unit's elements, counted in its strip: the first, and the end. */
int64_t grb_gpu_unit_first(const struct grb_gpu_run *r, bool of_b, int unit);
int64_t grb_gpu_unit_last(const struct grb_gpu_run *r, bool of_b, int unit);
/* The elements of the pieces that it is copied in, as many as fit a slot, all of one size but
   for the last; and the number of pieces.  Where B begins and where C ends they are smaller,
   because the bus is idle while a thread reads the first or writes the last.  */
int64_t grb_gpu_piece(const struct grb_gpu_run *r, bool of_b, int unit);
int64_t grb_gpu_unit_pieces(const struct grb_gpu_run *r, bool of_b, int unit);
/* Units of B, from the first on, that product `unit` waits for. */
int grb_gpu_units_needed(const struct grb_gpu_run *r, int unit);

/* On the device, as copied up, and as copied down: in the host's order. */
char *grb_gpu_b_as_sent(const struct grb_gpu_run *r, int s);
char *grb_gpu_c_as_fetched(const struct grb_gpu_run *r, int unit);
/* As the kernel wants them: row-major. */
char *grb_gpu_b_row_major(const struct grb_gpu_run *r, int s);
char *grb_gpu_c_row_major(const struct grb_gpu_run *r, int unit);

/* Events: one for S, and of each unit one for B's way up, the product, and C's way down. */
static inline int grb_gpu_event_count(const struct grb_gpu_run *r)
{
  return 1 + 3 * r->units;
}
static inline cudaEvent_t grb_gpu_s_sent(const struct grb_gpu_run *r)
{
  return r->device->events[0];
}
static inline cudaEvent_t grb_gpu_sent(const struct grb_gpu_run *r, int unit)
{
  return r->device->events[1 + 3 * unit];
}
static inline cudaEvent_t grb_gpu_computed(const struct grb_gpu_run *r, int unit)
{
  return r->device->events[2 + 3 * unit];
}
static inline cudaEvent_t grb_gpu_fetched(const struct grb_gpu_run *r, int unit)
{
  return r->device->events[3 + 3 * unit];
}

#endif
