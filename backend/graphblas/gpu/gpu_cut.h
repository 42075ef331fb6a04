/* gpu_cut.h: how a product is cut for one device, and what that needs of its memory.

   Columns first <= j < last of B and C, in strips of `width` (the last one narrower), and
   each strip in `blocks` of rows, of B and of C:

     first |--0--|--1--|--2--|--| last        unit s * blocks + i: block i of strip s
      row  |  0  |  4  |  8  |..|
           |  1  |  5  |  9  |..|             Block i of C needs the blocks of B that its
           |  2  |  6  | 10  |..|             rows of S meet: where entries are near the
           |  3  |  7  | 11  |..|             diagonal, C goes down while B still comes up.

   (Block i: not by place, but the i-th of its strip in the order `b_order` or `c_order`, in which
   products can begin soonest.)

   Host memory is read and written fastest in whole rows, so strips are as wide as the device's
   memory allows; where S is scattered, C can't begin before all of a strip of B is there, and
   strips that are wide still are cut once more.  With an operand that is held by column strips
   are whole columns: narrow, and of one block.

     B     kept whole on the device, or in a ring: strip s in place s % b_ring_strips,
           free again when the products of strip s have run
     C     likewise, unit u in place u % c_ring_blocks, free again when it has gone down
     rows  kernels want row-major strips; what the host holds by column goes through a ring as it
           is and is turned on the device, into the strip that stays or one strip of scratch

   Pure functions; no device is touched.  */
#ifndef SHUNT_GRAPHBLAS_GPU_CUT_H
#define SHUNT_GRAPHBLAS_GPU_CUT_H

#include <stddef.h>

#include "backend/graphblas/gpu/resident.h"
#include "kernels/semiring/semiring_kernels.h"

/* The most strips in the rings. */
enum { GRB_GPU_RING_B = 3, GRB_GPU_RING_C = 2 };

/* Where B comes from. */
enum grb_gpu_b { GRB_GPU_B_HOST, GRB_GPU_B_RESIDENT, GRB_GPU_B_CONSTANT };

struct grb_gpu_cut {
  int64_t first, last, width;
  int strips, blocks; /* blocks: a power of two, GRB_GPU_CHUNKS at most */
  enum grb_gpu_b b;
  bool keep_b, keep_c;     /* in memory of their own, that may stay */
  bool b_ring, c_ring;     /* is there a ring? */
  bool b_turned, c_turned; /* held by column on the host */
  int b_ring_strips, c_ring_blocks;
  int64_t b_strip, c_strip; /* bytes of a strip of full width, rounded up */
  uint8_t b_order[GRB_GPU_CHUNKS], c_order[GRB_GPU_CHUNKS]; /* [blocks] places */
  uint8_t needed[GRB_GPU_CHUNKS]; /* the first so many of b_order are what c_order[i] needs */
  int64_t c_block;                /* bytes of the largest block of C, rounded up */
  /* The transient block, offsets in bytes: */
  int64_t b_ring_at, c_ring_at, b_scratch_at, c_scratch_at, workspace_at, block_bytes;
};

struct grb_gpu_wish {
  int64_t first, last;
  enum grb_gpu_b b;
  int64_t resident_width; /* of strips of a B that is resident already */
  bool may_keep_b, may_keep_c;
  int64_t available;                /* bytes for everything but the residents that are used */
  const struct grb_gpu_resident *s; /* its lengths and chunks */
  size_t (*workspace)(const struct shunt_host_spmm *p, int64_t width, const void *context);
  const void *context;
};

/* False: it does not fit, however narrow the strips. */
bool grb_gpu_cut_make(struct grb_gpu_cut *cut, const struct shunt_host_spmm *p,
                      const struct grb_gpu_wish *wish);

static inline int64_t grb_gpu_round(int64_t bytes)
{
  return (bytes + 255) / 256 * 256;
}
/* Columns of strip s begin at (end before) ... */
static inline int64_t grb_gpu_strip_first(const struct grb_gpu_cut *cut, int s)
{
  return cut->first + s * cut->width;
}
static inline int64_t grb_gpu_strip_last(const struct grb_gpu_cut *cut, int s)
{
  int64_t end = cut->first + (s + 1) * cut->width;
  return end < cut->last ? end : cut->last;
}

/* The block at place i of `rows` rows begins at */
static inline int64_t grb_gpu_block_first(const struct grb_gpu_cut *cut, int64_t rows, int i)
{
  return rows * i / cut->blocks;
}

#endif
