/* integers.h: a packed matrix of integers, and what an engine does with one. */
#ifndef SHUNT_NATIVE_INTEGERS_H
#define SHUNT_NATIVE_INTEGERS_H

#include "conv/srbcrs/srbcrs_conv.h"
#include "kernels/srbcrs/attention/srbcrs_attention.h"
#include "kernels/srbcrs/attention/srbcrs_quantise.h"
#include "kernels/srbcrs/srbcrs_integers.h"

#include "backend/native/native.h"

struct shunt_packed_integers {
  struct shunt_srbcrs v;
  struct shunt_srbcrs_counts counts; /* v.counts, in host memory */
  enum shunt_place where;
  struct shunt_native_place at;
  void *memory;
  size_t bytes, places; /* places: of all slots, v.height each */
  size_t score_bytes;   /* of scores that attention has at once, but one problem's at least */
};

struct shunt_native_integers {
  /* Packs, and waits for `counts`. */
  shunt_status (*pack)(const struct shunt_csr *a, const struct shunt_srbcrs_layout *layout,
                       const struct shunt_native_place *at, const struct shunt_srbcrs *v,
                       struct shunt_srbcrs_counts *counts, shunt_stream stream);
  /* `count` matrices, of which none is read from what another is written to. */
  shunt_status (*quantise)(const struct shunt_native_place *at, const struct shunt_quantise *q,
                           int count, shunt_stream stream);
  /* Of v with sizes and lists of p and values of its own or others. */
  shunt_status (*spmm)(const struct shunt_packed_integers *p,
                       const struct shunt_srbcrs_integer_spmm *q, const struct shunt_srbcrs *v,
                       shunt_stream stream);
  shunt_status (*sddmm)(const struct shunt_packed_integers *p, const struct shunt_srbcrs_sddmm *q,
                        shunt_stream stream);
  shunt_status (*softmax)(const struct shunt_packed_integers *p,
                          const struct shunt_srbcrs_softmax *q, const struct shunt_srbcrs *v,
                          shunt_stream stream);
  /* Attention in one call: is it there for Q and K, and V, of so many bits and columns?  Integers
     of 4 bits then stand in bytes.  The host has none: its three calls do the same work.  Both have
     it of V as it is.  */
  int (*fuses)(const struct shunt_packed_integers *p, int bits_qk, int bits_v, int64_t cols);
  shunt_status (*attention)(const struct shunt_packed_integers *p,
                            const struct shunt_srbcrs_attention *q, shunt_stream stream);
};
extern const struct shunt_native_integers shunt_native_host_integers, shunt_native_cuda_integers;

/* The matrix with other values, where they are not NULL. */
struct shunt_srbcrs shunt_integers_view(const struct shunt_packed_integers *p, void *values);

/* The quantisation of a checked tensor into rows of `bits` that stand behind one another. */
struct shunt_quantise shunt_quantise_of(const struct shunt_tensor *from,
                                        const struct shunt_integers *to, float *scales,
                                        int per_row);

#endif
