/* attention_kernels.h: launchers of what attention is made of, on a pattern in the `vector` format:
   SDDMM, softmax, and the two fused with SpMM (attention_sddmm.cu, attention_softmax.cu,
   attention.cu).

   M is the pattern: row i has the columns N(i) whose mask bit is set.  For each of batches x heads
   problems that share the pattern

     sddmm      S[i, j] = alpha sum over c of Q[i, c] K[j, c]              j in N(i)
     softmax    P[i, j] = exp(x[i, j] - m[i]) / sum over N(i) of exp(x[i, j] - m[i])
                          x = scale S,  m[i] = the largest x[i, j] of row i
     attention  O[i, c] = sum over j in N(i) of P[i, j] V[j, c]            S not stored

   The rules of kernels/common/device.h hold.  All elements are of the pattern's type, f16 or
   bf16; everything between is f32.  No workspace.  Only the pattern's own positions count:
   zeros that fill up a vector or a step meet no NaN or Inf.  A row without positions gives zeros.
   Otherwise NaN and Inf are what the formulas give when evaluated in f32: a NaN or +Inf
   among a row's x, or a row of which all are -Inf, makes the row NaN; a weight that underflows to
   0 makes NaN with an infinite V.  */
#ifndef SHUNT_ATTENTION_KERNELS_H
#define SHUNT_ATTENTION_KERNELS_H

#include "kernels/common/device.h"
#include "kernels/vector/vector_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row-major matrix for each (batch, head), columns next to each other:
   element (i, c) is values[batch * batch_stride + head * head_stride + i * row_stride + c]. */
struct shunt_heads {
  void *values;
  int64_t row_stride, head_stride, batch_stride; /* elements */
};

/* Packed values, for problem z = batch * heads + head from element z * stride of an array, in
   the pattern's own order:

     values + z * stride     [steps][32][4]     as struct shunt_vector's values

   The array is aligned to 8 bytes, strides are multiples of 4.  As behind the pattern's own
   values there is room for one step more than the pattern's last, since kernels that multiply
   with them read it.  */
struct shunt_vector_sddmm {
  int64_t batches, heads, d;
  float alpha;             /* 0: the result is 0 whatever Q and K are */
  struct shunt_heads q, k; /* rows x d and cols x d */
  uint16_t *values;        /* written: all 16 x 8 places of each of the pattern's steps */
  int64_t values_stride;
};
/* Q and K of any alignment; rows that start at multiples of 16 bytes are read by 16 bytes.
   SHUNT_E_UNSUPPORTED: types, d > 2^20, batches x heads > 65535, device before 8.0. */
shunt_status shunt_vector_sddmm_cuda(const struct shunt_vector_sddmm *p,
                                     const struct shunt_vector *v, const struct shunt_device *d,
                                     shunt_stream stream);
shunt_status shunt_vector_sddmm_host(const struct shunt_vector_sddmm *p,
                                     const struct shunt_vector *v);

struct shunt_vector_softmax {
  int64_t matrices; /* batches x heads */
  float scale;
  const uint16_t *in;
  uint16_t *out; /* may be `in`, with the same stride; places not in the pattern become 0 */
  int64_t in_stride, out_stride;
};
shunt_status shunt_vector_softmax_cuda(const struct shunt_vector_softmax *p,
                                       const struct shunt_vector *v, const struct shunt_device *d,
                                       shunt_stream stream);
shunt_status shunt_vector_softmax_host(const struct shunt_vector_softmax *p,
                                       const struct shunt_vector *v);

struct shunt_vector_attention {
  int64_t batches, heads, d;
  float scale;
  struct shunt_heads q, k, v, o; /* rows x d, cols x d, cols x d, rows x d; o overlaps no other */
};
/* The fused kernel: d 16, 32, 64 or 128, all rows at multiples of 16 bytes (else
   SHUNT_E_UNSUPPORTED: compose the three).  The twin takes any. */
shunt_status shunt_vector_attention_cuda(const struct shunt_vector_attention *p,
                                         const struct shunt_vector *v, const struct shunt_device *d,
                                         shunt_stream stream);
shunt_status shunt_vector_attention_host(const struct shunt_vector_attention *p,
                                         const struct shunt_vector *v);
/* The host engine: in float, some seven times as fast as the twin; d > 256 takes the twin. */
shunt_status shunt_vector_attention_parallel_host(const struct shunt_vector_attention *p,
                                                  const struct shunt_vector *v);
/* shunt_vector_attention_cuda with 2^log2_slices (0 .. 3) warps for each group of 8 rows, which is
   otherwise chosen; the result's last bits depend on it.  For tests.  */
shunt_status shunt_vector_attention_sliced_cuda(const struct shunt_vector_attention *p,
                                                const struct shunt_vector *v, int log2_slices,
                                                const struct shunt_device *d, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
