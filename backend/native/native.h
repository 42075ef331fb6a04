/* native.h: what the sources of libshunt.so share: a packed matrix, the engines that work on
   one, and the checks of operands.

   shunt.h's functions check, then call the matrix's engine:

     pack.c  spmm.c  sddmm.c  softmax.c  attention.c     checks; problem by problem or all at once
                |                                         (integers_*.c: of integers)
        struct shunt_native_engine                        one table for each place
          |                      |
     host_engine.c       cuda_engine.c (no_cuda.c: none)
     host_integers.c     cuda_integers.c
          |                      |
     conv/, kernels/         conv/, kernels/             twins in plain C, and launchers  */
#ifndef SHUNT_NATIVE_H
#define SHUNT_NATIVE_H

#include "conv/vector/vector_conv.h"
#include "kernels/vector/attention/attention_kernels.h"
#include "kernels/vector/vector_kernels.h"

#include "backend/shunt.h"

struct shunt_native_engine;
struct shunt_native_integers; /* backend/native/integers.h */

/* Where a packed matrix lives. */
struct shunt_native_place {
  const struct shunt_native_engine *engine;
  struct shunt_device device; /* and its number, where it is one */
  int ordinal;
};

struct shunt_packed {
  struct shunt_vector v;
  struct shunt_vector_counts counts; /* v.counts, in host memory */
  enum shunt_place where;
  struct shunt_native_place at;
  void *memory;
  int owned; /* memory is Shunt's */
  size_t bytes, value_bytes;
};

/* Functions that take a packed matrix find themselves on its device. */
struct shunt_native_engine {
  /* Fills the current device in.  SHUNT_E_ARGUMENT: the stream is being captured. */
  shunt_status (*open)(struct shunt_native_place *at, shunt_stream stream);
  /* The same, capture or not: for a call without a packed matrix. */
  shunt_status (*look)(struct shunt_native_place *at);
  /* Is its device the current one?  SHUNT_E_ARGUMENT: no. */
  shunt_status (*enter)(const struct shunt_native_place *at);
  shunt_status (*allocate)(void **memory, size_t bytes); /* aligned to 256 bytes */
  shunt_status (*clear)(void *memory, size_t bytes, shunt_stream stream);
  void (*release)(void *memory);
  /* Packs, and waits for p->counts. */
  shunt_status (*pack)(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                       struct shunt_packed *p, shunt_stream stream);

  size_t (*spmm_workspace)(const struct shunt_spmm *q);
  shunt_status (*spmm)(const struct shunt_packed *p, const struct shunt_spmm *q,
                       const struct shunt_vector *v, void *workspace, size_t workspace_bytes,
                       shunt_stream stream);
  shunt_status (*sddmm)(const struct shunt_packed *p, const struct shunt_vector_sddmm *q,
                        shunt_stream stream);
  shunt_status (*softmax)(const struct shunt_packed *p, const struct shunt_vector_softmax *q,
                          shunt_stream stream);
  /* Is there one kernel for it? */
  int (*fuses)(const struct shunt_vector_attention *q);
  shunt_status (*attention)(const struct shunt_packed *p, const struct shunt_vector_attention *q,
                            shunt_stream stream);
  const struct shunt_native_integers *integers;
};
/* That of a place; NULL: this library has none. */
const struct shunt_native_engine *shunt_native_engine_of(enum shunt_place where);
const struct shunt_native_engine *shunt_native_host(void);
const struct shunt_native_engine *shunt_native_cuda(void);

/* ---- operands (operands.c) ----------------------------------------------------------------- */

/* Is t a tensor of these sizes as shunt.h wants it?  batches and heads are those of `like`.
   written: and may it be a result? */
int shunt_tensor_fits(const struct shunt_tensor *t, const struct shunt_tensor *like, int64_t rows,
                      int64_t cols, int written);
/* Problems in t, 1 .. 65535, or 0. */
int64_t shunt_tensor_problems(const struct shunt_tensor *t);
struct shunt_heads shunt_tensor_heads(const struct shunt_tensor *t);
/* The matrix of problem z = batch * heads + head. */
struct shunt_dense shunt_tensor_matrix(const struct shunt_tensor *t, int64_t z);
/* Do all rows of all problems start at multiples of 16 bytes? */
int shunt_heads_aligned(const struct shunt_heads *m);

/* Packed values of `problems` problems, in elements. */
struct shunt_value_array {
  uint16_t *values;
  int64_t stride;
};
/* values as given, or p's own for NULL.  0: not as shunt.h wants them. */
int shunt_value_array(const struct shunt_packed *p, const struct shunt_values *values,
                      int64_t problems, struct shunt_value_array *out);

/* C = alpha P B + beta C for checked operands, problem by problem; `workspace` as
   shunt_spmm_workspace says (spmm.c). */
struct shunt_native_spmm {
  struct shunt_value_array values;
  const struct shunt_tensor *b, *c;
  float alpha, beta;
};
shunt_status shunt_native_spmm(const struct shunt_packed *p, const struct shunt_native_spmm *q,
                               void *workspace, size_t workspace_bytes, shunt_stream stream);
size_t shunt_native_spmm_workspace(const struct shunt_packed *p, const struct shunt_tensor *b,
                                   const struct shunt_tensor *c);

#endif
