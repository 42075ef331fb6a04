/* masked_operands.h: A, B and M of a masked product on their way to the device: what is resident
   under proof, what another of the three brings, and what has to be sent.

     C<S> = S S'     A is sent; B and M are A's
     C<L> = L U'     L and U are sent; M is A's

   The pattern alone is sent of what no value is read of.  Keys differ from those of products with a
   dense operand, which want more of a matrix.  */
#ifndef SHUNT_GRAPHBLAS_GPU_MASKED_OPERANDS_H
#define SHUNT_GRAPHBLAS_GPU_MASKED_OPERANDS_H

#include "backend/graphblas/gpu/device.h"
#include "backend/graphblas/gpu/gpu_masked.h"
#include "kernels/semiring/device/masked_dot_cuda.h"

struct grb_gpu_operand {
  const struct shunt_sparse *s;
  bool values; /* are they read? */
  bool keyed;
  bool in_parts; /* M: it comes in parts, not whole */
  struct grb_gpu_key key;
  int like;                      /* the operand that brings it; its own number: itself */
  struct grb_gpu_resident *kept; /* held */
  struct grb_gpu_resident own;   /* memory of this product's, to be sent or kept */
};

enum { GRB_GPU_A, GRB_GPU_B, GRB_GPU_M, GRB_GPU_OPERANDS };
struct grb_gpu_operands {
  struct grb_gpu_operand of[GRB_GPU_OPERANDS];
  shunt_type type;
  int threads;
  bool halved; /* A and B are one matrix, and pairs of T may be left to their mirror image */
  uint64_t bytes_up, sent;
};

/* Are only terms counted?  Then no value is read. */
bool grb_gpu_masked_counts_terms(const struct shunt_masked_dot *x);
/* Reads no device; x outlives it. */
struct grb_gpu_operands grb_gpu_operands_make(const struct shunt_masked_dot *x,
                                              const struct grb_masked_sources *from);
/* The bytes that one takes; 0 of what another brings. */
int64_t grb_gpu_operand_bytes(const struct grb_gpu_operands *o, int i);

/* The device is entered, its residents are locked.  Found by key: hashes are not compared. */
bool grb_gpu_operand_is_there(const struct grb_gpu_operands *o, int i, struct grb_gpu_device *d);
void grb_gpu_operands_find(struct grb_gpu_operands *o, struct grb_gpu_device *d);
shunt_status grb_gpu_operands_allocate(struct grb_gpu_operands *o, struct grb_gpu_device *d);
void grb_gpu_operands_keep(struct grb_gpu_operands *o, struct grb_gpu_device *d);
void grb_gpu_operands_release(struct grb_gpu_operands *o, struct grb_gpu_device *d);

/* Between _allocate and _keep; no device is entered. */
shunt_status grb_gpu_operands_send(struct grb_gpu_operands *o, struct grb_gpu_devices *d);
struct shunt_device_rows grb_gpu_operand_rows(const struct grb_gpu_operands *o, int i);

#endif
