/* srbcrs_attention.h: attention of integers over the `srbcrs` format in one launch, by which no
   score and no weight reaches memory.

     O = P V,    P = softmax(scale Q K^T at the entries of a pattern), as integers

   It has the bits of three launches, of shunt_srbcrs_sddmm_cuda with results of f16,
   shunt_srbcrs_softmax_cuda and shunt_srbcrs_integer_spmm_cuda, whose headers say what is computed:

     S(i, j) = f16((float)(sum over k of Q(i, k) K(j, k)) * (scale q_scales[i] k_scales[j]))
     q(i, j), row_scales[i] of S as in srbcrs_quantise.h, with a greatest weight of `largest`
     O(i, k) = (float)(sum over j of q(i, j) V(j, k)) * (v_scale[0] row_scales[i]), rounded once

   Or with V as real numbers, whose products are f16's or bf16's, added in f32:

     e(i, j) = exp(S(i, j) - m(i)),   w(i, j) = e(i, j) rounded to V's type, of e4m3 to f16
     O(i, k) = (sum over j of w(i, j) V(j, k)) / (sum over j of e(i, j)), rounded once

   NaN where S has a NaN or +Inf in row i, or -Inf alone; 0 in a row without entries.

   The rules of kernels/common/device.h hold.  */
#ifndef SHUNT_SRBCRS_ATTENTION_H
#define SHUNT_SRBCRS_ATTENTION_H

#include "kernels/srbcrs/attention/srbcrs_quantise.h"

#ifdef __cplusplus
extern "C" {
#endif

/* V in place, f16 or bf16: that of head 0 of batch 0, and the first problem is number `first`; of
   one problem it is its own.  d is a multiple of 8, and rows begin at multiples of 16 bytes.  */
struct shunt_srbcrs_real_v {
  const void *values;
  shunt_type type;
  int64_t row_stride, head_stride, batch_stride; /* elements */
};

/* q: rows x d, k and v: cols x d, of 8 bits, -127 .. 127, with a scale for each row of q and of k
   and one for v.  narrow_v: v's integers are of 4 bits, -7 .. 7, and weights have room for that.
   Of several problems what the others have stands behind what the first one has, as in struct
   shunt_srbcrs_problems; that of o as in struct shunt_srbcrs_integer_spmm: o is that of head 0 of
   batch 0, and the first problem is number `first`; of one problem it is its own.  o: f16, bf16 or
   f32.  real_v: without values v and v_scale are V, else they are not read; v_e4m3: v
   has numbers of e4m3, real ones.  */
struct shunt_srbcrs_attention {
  struct shunt_integers q, k, v;
  const float *q_scales, *k_scales, *v_scale;
  struct shunt_srbcrs_real_v real_v;
  int v_e4m3, narrow_v;
  float scale;
  shunt_type type; /* of o */
  void *o;
  int64_t row_stride, head_stride, batch_stride; /* of o, elements */
  int64_t problems, first, heads;
};

enum {
  SHUNT_SRBCRS_ATTENTION_WIDEST = 128,      /* d, at most */
  SHUNT_SRBCRS_ATTENTION_WARPS = 8,         /* of a block, each of a group of its own */
  SHUNT_SRBCRS_ATTENTION_STRIDE_BYTES = 512 /* of shared memory for each stride of a group */
};

/* Bytes of shared memory of a block, for groups of up to so many strides. */
static inline int64_t shunt_srbcrs_attention_shared(int64_t longest)
{
  return longest * SHUNT_SRBCRS_ATTENTION_STRIDE_BYTES * SHUNT_SRBCRS_ATTENTION_WARPS;
}

/* m: a pattern of 16, 12 or 8 bits, which are those of the weights; its values are not touched.
   longest: no group has more strides.  Needs compute capability 8.0, and the shared memory above in
   a block; with real_v scores that have no room there are computed twice.  SHUNT_E_UNSUPPORTED,
   SHUNT_E_ARGUMENT: nothing was enqueued.  */
shunt_status shunt_srbcrs_attention_cuda(const struct shunt_srbcrs_attention *p,
                                         const struct shunt_srbcrs *m, int64_t longest,
                                         const struct shunt_device *d, shunt_stream stream);
/* The twin, with the bits of the three twins; with real_v in double. */
shunt_status shunt_srbcrs_attention_host(const struct shunt_srbcrs_attention *p,
                                         const struct shunt_srbcrs *m);

/* R of srbcrs_quantise.h. */
static inline float shunt_srbcrs_attention_room(const struct shunt_srbcrs_attention *p)
{
  return (float)(1 << (31 - (p->narrow_v ? 4 : 8)));
}

static inline int shunt_srbcrs_real_v_fits(const struct shunt_srbcrs_real_v *v, int64_t d)
{
  const uint64_t all = (uint64_t)(v->row_stride | v->head_stride | v->batch_stride | d);
  return v->row_stride >= d && all % 8 == 0 && (uintptr_t)v->values % 16 == 0;
}

/* Are these operands of it? */
static inline shunt_status shunt_srbcrs_attention_check(const struct shunt_srbcrs_attention *p,
                                                        const struct shunt_srbcrs *m)
{
  const size_t size = shunt_type_size(p->type);
  if (m->bits != 16 && m->bits != 12 && m->bits != 8) return SHUNT_E_UNSUPPORTED;
  const int real = p->real_v.values != NULL;
  if (p->q.bits != 8 || p->k.bits != 8 || (!real && p->v.bits != 8)) return SHUNT_E_UNSUPPORTED;
  if (real && p->real_v.type != SHUNT_F16 && p->real_v.type != SHUNT_BF16)
    return SHUNT_E_UNSUPPORTED;
  if (p->q.cols > SHUNT_SRBCRS_ATTENTION_WIDEST) return SHUNT_E_UNSUPPORTED;
  if (p->type != SHUNT_F16 && p->type != SHUNT_BF16 && p->type != SHUNT_F32)
    return SHUNT_E_UNSUPPORTED;
  if (!shunt_integers_fit(&p->q, m->rows, p->q.cols) ||
      !shunt_integers_fit(&p->k, m->cols, p->q.cols) ||
      (real ? !shunt_srbcrs_real_v_fits(&p->real_v, p->q.cols)
            : !shunt_integers_fit(&p->v, m->cols, p->q.cols)))
    return SHUNT_E_ARGUMENT;
  if (!p->q_scales || !p->k_scales || (!real && !p->v_scale)) return SHUNT_E_ARGUMENT;
  if (!p->o || (uintptr_t)p->o % size || p->row_stride < p->q.cols) return SHUNT_E_ARGUMENT;
  if (p->problems < 1 || p->problems > 65535 || p->first < 0 || p->heads < 1)
    return SHUNT_E_ARGUMENT;
  return SHUNT_OK;
}

#ifdef __cplusplus
}
#endif
#endif
