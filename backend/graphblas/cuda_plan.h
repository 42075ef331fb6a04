/* cuda_plan.h: how a product is cut for one device, and what that needs of its memory.

   Columns first <= j < last of B and C, in strips of `width` (the last one narrower):

     first |--0--|--1--|--2--|--| last

     B     kept whole on the device, or in a ring: strip s in place s % GRB_CUDA_RING_B,
           free again when product s has run
     C     likewise, ring of GRB_CUDA_RING_C, free again when strip s has gone down
     rows  kernels want row-major strips; what the host holds by column goes through a ring as it
           is and is turned on the device, into the kept strip or one strip of scratch

   Pure functions; no device is touched.  */
#ifndef SHUNT_GRAPHBLAS_CUDA_PLAN_H
#define SHUNT_GRAPHBLAS_CUDA_PLAN_H

#include <stddef.h>

#include "kernels/shunt_host_kernels.h"

enum { GRB_CUDA_RING_B = 3, GRB_CUDA_RING_C = 2 };

/* Where B comes from. */
enum grb_cuda_b { GRB_CUDA_B_HOST, GRB_CUDA_B_KEPT, GRB_CUDA_B_CONSTANT };

struct grb_cuda_plan {
  int64_t first, last, width;
  int strips;
  enum grb_cuda_b b;
  bool keep_b, keep_c;      /* in memory of their own, that may stay */
  bool b_ring, c_ring;      /* is there a ring? */
  bool b_turned, c_turned;  /* held by column on the host */
  int64_t b_strip, c_strip; /* bytes of a strip of full width, rounded up */
  /* The transient block, offsets in bytes: */
  int64_t b_ring_at, c_ring_at, b_scratch_at, c_scratch_at, workspace_at, block_bytes;
};

struct grb_cuda_wish {
  int64_t first, last;
  enum grb_cuda_b b;
  int64_t kept_width; /* of strips of a B that is kept already */
  bool may_keep_b, may_keep_c;
  int64_t available; /* bytes for everything but what is kept already and is used */
  size_t (*workspace)(const struct shunt_host_spmm *p, int64_t width, const void *context);
  const void *context;
};

/* False: it does not fit, however narrow the strips. */
bool grb_cuda_plan_make(struct grb_cuda_plan *plan, const struct shunt_host_spmm *p,
                        const struct grb_cuda_wish *wish);

static inline int64_t grb_cuda_round(int64_t bytes)
{
  return (bytes + 255) / 256 * 256;
}
/* Columns of strip s begin at (end before) ... */
static inline int64_t grb_cuda_strip_first(const struct grb_cuda_plan *plan, int s)
{
  return plan->first + s * plan->width;
}
static inline int64_t grb_cuda_strip_last(const struct grb_cuda_plan *plan, int s)
{
  int64_t end = plan->first + (s + 1) * plan->width;
  return end < plan->last ? end : plan->last;
}

#endif
