/* packed_product.h: what routes share that multiply by a copy of A in a format of their own.

   SpMM.  A packed copy was made by an earlier call.  A direct copy is made anew in the caller's
   buffer, by formats for which that takes little time.

     packed   stream  C = alpha op(A) B from the copy -- proof and repair
                      or both in one launch, where the format has such a kernel (`proved`)
     direct   stream  words = 0 -- copy -- C = alpha op(A) B -- repair

   The repair is a kernel that computes C row by row where the copy cannot be trusted, and else
   leaves C alone.  Three things speak against a copy:

     A has changed since a packed one was made (the repair takes A's fingerprint itself)
     A is not what the format can hold (`irregular`, set by the conversion)
     the first row of the probed matrix, which the format names, holds a NaN or Inf: zeros that the
       copy has and A has not may have met a NaN or Inf of B

   With beta != 0 the product goes to a matrix W first, f32, or f64 of f64, since the repair needs
   C's old content: C = alpha W + beta C unless the repair ran.

   Where the caller promised that the pattern stays (problem.h, pattern_epoch), and the copy was
   made since, the proof reads A's values alone.

   Where the caller promised that A stays as it is, and the copy is trusted (backend/plan/frozen.h),
   nothing of A is read, and the product runs alone.  Only formats that are probed still launch the
   repair, for the probe.

   In a captured graph the proof of a packed copy begins beside the product
   (backend/plan/graph_overlap.h).

   Where op(A) is the transpose of what is stored, another kernel repairs
   (kernels/csr/csr_spmm_transposed.cu).  That takes no fingerprint, which so has its own launch:

     stream  C = alpha A^T B -- fingerprint of A's arrays -- comparison -- repair

   The repair's blocks agree through words that must be zero before their first use
   (kernels/guard/words.cuh).  Packed memory begins with a table of them, zeroed when the copy is
   made, in which each call finds its own by the address of its workspace; so calls on several
   streams and replays of captured graphs may use one copy at once.  A direct call has one set in
   its workspace, zeroed with the irregular word.

   Workspace, in this order, each part 256-byte aligned:
     words (256) | fingerprint's scratch | the format's own | copy, where direct | W
   Packed:
     table of the repair's words | copy  */
#ifndef SHUNT_PACKED_PRODUCT_H
#define SHUNT_PACKED_PRODUCT_H

#include "backend/plan/cache.h"
#include "backend/routes/route.h"
#include "kernels/guard/guard.h"

/* One product under way, as its format sees it. */
struct shunt_packed_product {
  const struct shunt_call *call;
  struct shunt_spmm spmm; /* what to compute: C, or W = op(A) B in its place; beta is 0 */
  void *copy;
  void *own; /* the format's own part of the workspace */
};

struct shunt_packed_format {
  /* Bytes of the workspace that the format wants for itself; NULL: none. */
  size_t (*own_bytes)(const struct shunt_problem *p);
  /* Bytes of a copy in the workspace; NULL: such copies are only packed. */
  size_t (*direct_bytes)(const struct shunt_problem *p);
  /* Enqueues A -> copy; *irregular (device, 0 before) is set if A cannot be held. */
  shunt_status (*convert)(const struct shunt_call *c, void *copy, uint32_t *irregular);
  /* NULL: there is `proved` only. */
  shunt_status (*product)(const struct shunt_packed_product *x);
  /* Its first row tells of a NaN or Inf that the product should not have met, or of B's.  NULL:
     none, the product is right whatever B holds.  */
  struct shunt_dense (*probed)(const struct shunt_packed_product *x);
  /* The product's kernel lets the next one in, and was not let in early: the proof may begin. */
  bool lets_in;
  /* Product into r->product, C or W, and what shunt_guard_repair_cuda(s, r) does behind it, in
     one launch, from a packed copy; SHUNT_E_UNSUPPORTED, and nothing enqueued, where that is not to
     be had.  NULL: nowhere.  */
  shunt_status (*proved)(const struct shunt_packed_product *x, const struct shunt_spmm *s,
                         const struct shunt_guard *r);
};

struct shunt_packed_workspace {
  size_t scratch, own, copy, product, total;
};

/* Of SDDMM's product, too, for which there is no copy. */
struct shunt_packed_workspace shunt_packed_lay_out(const struct shunt_packed_format *f,
                                                   const struct shunt_problem *p);
bool shunt_packed_overwrites(const struct shunt_spmm *s); /* beta is 0, and on the host */

/* Is so much workspace too much to ask for on this device? */
bool shunt_packed_is_large(size_t workspace, const struct shunt_context *context);

/* What a product from a packed copy takes if its launches take `us`: with W, where C's old content
   counts, and with the copy of `copied` bytes of B (0: B is read in place).  */
double shunt_packed_expected_us(const struct shunt_call *c, double us, size_t copied);
/* Is such a product faster than `csr`, with its share of the conversion, which takes `made` us? */
bool shunt_packed_gains(const struct shunt_call *c, double us, double made);

/* The last questions of `expect`: may a copy be used, or made, for this call?  For formats that
   read B in place, aligned to 16 bytes, where they want no memory of their own.  */
struct shunt_outcome shunt_packed_usable(const struct shunt_packed_format *f,
                                         const struct shunt_call *c);

/* The end of a conversion: its own word, on the device, becomes *irregular. */
shunt_status shunt_packed_set_irregular(const struct shunt_call *c, const uint32_t *word,
                                        uint32_t *irregular);

/* Packed memory for a copy of so many bytes. */
size_t shunt_packed_copy_bytes(size_t copy_bytes);
/* A route's run, for SpMM, and its pack.  A run notes what it did with a packed copy; where it
   answers SHUNT_E_UNSUPPORTED or SHUNT_E_WORKSPACE and the copy is unused, it enqueued nothing.  */
shunt_status shunt_packed_run(const struct shunt_packed_format *f, const struct shunt_call *c);
shunt_status shunt_packed_fill(const struct shunt_packed_format *f, const struct shunt_call *c,
                               const struct shunt_packed_view *into);

#endif
