/* srbcrs_kernels.h: launchers of SpMM with A in the `srbcrs` format
   (kernels/srbcrs/srbcrs_spmm.cu).

     C[m x n] = alpha A[m x k] B[k x n] + beta C,    A packed (kernels/srbcrs/srbcrs_format.h)

   The rules of kernels/common/device.h hold.  Types: int8 A and B; C in int32 computing in int32,
   or in f32 computing in f32.  Sums are int32 in both, and wrap.  No product is larger than 2^14,
   so a sum of up to SHUNT_SRBCRS_EXACT entries, of one row, never wraps: such sums in f32 are exact
   before they are rounded, once.  alpha sum + beta C wraps in int32, too.

   In f32, `csr` sums floats, which hold every integer up to 2^24: in rows of up to
   SHUNT_SRBCRS_AS_CSR entries that is exact, so that both give the same bits.  Longer rows, whose
   bits would change when a copy is made, are the route's to leave to `csr`.  */
#ifndef SHUNT_SRBCRS_KERNELS_H
#define SHUNT_SRBCRS_KERNELS_H

#include "kernels/guard/guard.h"
#include "kernels/srbcrs/srbcrs_format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_SRBCRS_EXACT = 131071, /* (2^31 - 1) / 2^14 */
  SHUNT_SRBCRS_AS_CSR = 1024   /* 2^24 / 2^14 */
};

/* How a product is computed; all ways give the same bits.

     gathered   groups 0; columns: of B that a warp gathers at a time, 32, 64 or 128; split: warps
                (1 or 4) that share the strides of a group
     strips     groups 32: of a block, to which B comes through shared memory, `columns` at a
                time, 64 or 128; split 1.  Needs compute capability 9.0; fast where vectors are
                spread.
     whole      groups 32 of a block, too, columns 32, split 1: all rows of B, up to 7168, stand in
                shared memory.  Needs compute capability 9.0; fast where vectors are spread.  */
struct shunt_srbcrs_shape {
  int columns, split, groups;
};

/* Strips are of so many rows of B.  Strides whose rows are less than `held` apart find them in
   shared memory, others gather them one by one, which is slow.  */
enum {
  SHUNT_SRBCRS_STRIP = 256,
  SHUNT_SRBCRS_STRIP_GROUPS = 32,
  SHUNT_SRBCRS_STRIPS_BYTES = 229632, /* of shared memory */
  SHUNT_SRBCRS_WHOLE_COLUMNS = 32,
  SHUNT_SRBCRS_WHOLE_ROWS = 7168 /* of B */
};
static inline int shunt_srbcrs_strips_held(int columns)
{
  return SHUNT_SRBCRS_STRIP * (columns == 128 ? 4 : 7);
}
/* Are there such strips, and does the device run them? */
static inline bool shunt_srbcrs_spmm_strips_fit(const struct shunt_srbcrs_shape *s,
                                                const struct shunt_device *d)
{
  return (s->columns == 128 || s->columns == 64) && s->split == 1 &&
         s->groups == SHUNT_SRBCRS_STRIP_GROUPS && d->compute_capability >= 90 &&
         d->shared_per_block >= SHUNT_SRBCRS_STRIPS_BYTES;
}
/* And whole tiles of B? */
static inline bool shunt_srbcrs_spmm_whole_fits(const struct shunt_spmm *p,
                                                const struct shunt_srbcrs_shape *s,
                                                const struct shunt_device *d)
{
  return s->columns == SHUNT_SRBCRS_WHOLE_COLUMNS && s->split == 1 &&
         s->groups == SHUNT_SRBCRS_STRIP_GROUPS && p->b.rows <= SHUNT_SRBCRS_WHOLE_ROWS &&
         d->compute_capability >= 90 && d->shared_per_block >= SHUNT_SRBCRS_STRIPS_BYTES;
}
/* How groups of so many rows are gathered best: the widest shape that leaves some warps for each
   multiprocessor. */
struct shunt_srbcrs_shape shunt_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                  const struct shunt_device *d);

/* p->a gives sizes and types only; its arrays are not read.  v: made from a matrix of these sizes,
   not irregular or not to be relied on.  No `only_if`.  The workspace is needed for a copy of B
   when B is column-major or its rows or pointer are not multiples of 16 bytes.  Needs compute
   capability 8.0.  SHUNT_E_UNSUPPORTED, SHUNT_E_ARGUMENT, SHUNT_E_WORKSPACE: nothing was
   enqueued.  */
size_t shunt_srbcrs_spmm_workspace(const struct shunt_spmm *p);
shunt_status shunt_srbcrs_spmm_shaped_cuda(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                                           const struct shunt_srbcrs_shape *shape,
                                           const struct shunt_device *d, void *workspace,
                                           size_t workspace_bytes, shunt_stream stream);
/* In how many rounds the blocks that are at work at one time take a product with its proof inside,
   in this shape; 0: it cannot be proved so, as beta is not 0 on the host, gathers too wide, or
   strips more than one round; whole tiles never.  */
double shunt_srbcrs_spmm_proved_rounds(const struct shunt_spmm *p, int height,
                                       const struct shunt_srbcrs_shape *shape,
                                       const struct shunt_device *d);
/* C = alpha A B, and in the same launch what shunt_guard_repair_cuda(p, r) does behind a product:
   r->product is not looked at, none is needed; p->only_if has the meaning that it has there.  A's
   arrays are read.  v's are read before the kernel in front has ended: that one must not write
   them, and must have waited for the kernel that did.  SHUNT_E_UNSUPPORTED, and nothing enqueued,
   where there are no such rounds.  */
shunt_status shunt_srbcrs_spmm_proved_shaped_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_srbcrs *v,
                                                  const struct shunt_srbcrs_shape *shape,
                                                  const struct shunt_guard *r,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t workspace_bytes, shunt_stream stream);
/* The twin. */
shunt_status shunt_srbcrs_spmm_host(const struct shunt_spmm *p, const struct shunt_srbcrs *v);

#ifdef __cplusplus
}
#endif
#endif
