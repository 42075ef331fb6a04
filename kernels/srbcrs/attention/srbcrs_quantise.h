/* srbcrs_quantise.h: launchers that make integers of real numbers: symmetric quantisation of a
   dense matrix, and softmax over the entries of a packed one.  The rules of kernels/common/device.h
   hold.

   Symmetric: with L = 2^(bits - 1) - 1, the largest integer used,

     scale = m / L,   q(i, j) = x(i, j) / scale, rounded to the nearest integer, ties to even,
                                bounded by -L and L; 0 for a NaN, and where scale is 0

   m the largest finite |x| of the matrix, or of row i; so that x is scale q, but for what lies
   beyond the bounds.  In f32, with divisions as IEEE has them.  Or with L = 448 and q a number of
   e4m3 (srbcrs_e4m3.cuh), rounded and bounded alike.  */
#ifndef SHUNT_SRBCRS_QUANTISE_H
#define SHUNT_SRBCRS_QUANTISE_H

#include "kernels/srbcrs/srbcrs_integers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* from: f16, bf16 or f32, by rows, the matrix of the first of `problems` (batches x heads); the
   others' are the strides (elements) further on.  to: the first one's, of the same sizes, the
   others behind it, rows x row_bytes each; rows are written up to the last byte that has an
   element, a nibble that has none as 0.  scales: for each problem one float, or one for each
   row.  */
struct shunt_quantise {
  struct shunt_dense from;
  int64_t problems, heads, head_stride, batch_stride;
  struct shunt_integers to; /* its values are written */
  float *scales;
  int per_row;
  int is_e4m3; /* `to` has 8 bits, and they are those of e4m3 */
  int narrow;  /* `to` has 8 bits, of which integers of 4 are made: L is 7 */
};
shunt_status shunt_quantise_cuda(const struct shunt_quantise *p, const struct shunt_device *d,
                                 shunt_stream stream);
/* `count` of them, of which none reads what another writes.  Those of up to 256 columns, in eights
   and aligned to 16 bytes, of one type and at most SHUNT_QUANTISED_TOGETHER in number, share a
   launch; those of a tensor have one more.  */
enum { SHUNT_QUANTISED_TOGETHER = 3 };
shunt_status shunt_quantise_several_cuda(const struct shunt_quantise *p, int count,
                                         const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_quantise_host(const struct shunt_quantise *p);

/* Softmax of each row over the entries of v, as integers and a scale for each row: P(i, j) is about
   row_scales[i] q(i, j).  With x = scale S and m(i) the largest x of row i,

     e(i, j) = exp(x(i, j) - m(i)),   s(i) = sum over row i of e(i, j)
     q(i, j) = c(i) e(i, j), rounded to the nearest, ties to even,   row_scales[i] = 1 / (c(i) s(i))

   so that the largest weight of a row is the integer c(i), however many entries share the row.
   With L the greatest integer of v's bits and type and R = 2^(31 - bits_b)

     c(i) = R / s(i), rounded down, but L at most and 1 at least

   so that sums over a row of q times integers of bits_b bits cannot leave int32 while the row has
   at most R entries: half of int32's range is left for what rounding adds.

   S: [strides][height][32] of f32 or f16, as shunt_srbcrs_sddmm_cuda writes them.  The integers
   are put into v's values.  v->bits: 16, 12 or 8; bits_b: 16, 8 or 4.  A row whose sum is no
   number (a NaN or +Inf in it, or -Inf alone) gives zeros, since integers have no NaN, and NaN as
   its scale; one without entries gives 0.  */
struct shunt_srbcrs_softmax {
  const void *scores;
  shunt_type score_type;
  float scale;
  int bits_b;
  float *row_scales; /* [v->rows] */
  struct shunt_srbcrs_problems problems;
};
shunt_status shunt_srbcrs_softmax_cuda(const struct shunt_srbcrs_softmax *p,
                                       const struct shunt_srbcrs *v, const struct shunt_device *d,
                                       shunt_stream stream);
/* The twin, in double: integers differ by 1 where c e lies between two. */
shunt_status shunt_srbcrs_softmax_host(const struct shunt_srbcrs_softmax *p,
                                       const struct shunt_srbcrs *v);

/* L: the greatest weight. */
static inline float shunt_srbcrs_largest(const struct shunt_srbcrs *v)
{
  return v->bits > 8 ? (float)((1 << (v->bits - 1)) - 1) : v->value_type == SHUNT_U8 ? 255 : 127;
}

/* Are these operands of a softmax? */
static inline shunt_status shunt_srbcrs_softmax_check(const struct shunt_srbcrs_softmax *p,
                                                      const struct shunt_srbcrs *v)
{
  if (v->bits != 16 && v->bits != 12 && v->bits != 8) return SHUNT_E_UNSUPPORTED;
  if (p->bits_b != 16 && p->bits_b != 8 && p->bits_b != 4) return SHUNT_E_UNSUPPORTED;
  if (!shunt_srbcrs_problems_fit(&p->problems, v->height)) return SHUNT_E_ARGUMENT;
  if (p->score_type != SHUNT_F32 && p->score_type != SHUNT_F16) return SHUNT_E_UNSUPPORTED;
  if (!p->scores || (uintptr_t)p->scores % 16) return SHUNT_E_ARGUMENT;
  return p->row_scales && (uintptr_t)p->row_scales % 4 == 0 ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

/* Are these operands of a quantisation? */
static inline shunt_status shunt_quantise_check(const struct shunt_quantise *p)
{
  const shunt_type t = p->from.type;
  if (t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->problems < 1 || p->problems > 65535 || p->heads < 1) return SHUNT_E_ARGUMENT;
  if (p->from.rows < 1 || p->from.col_stride != 1 || p->from.row_stride < p->from.cols)
    return SHUNT_E_ARGUMENT;
  if (!p->from.values || !p->scales) return SHUNT_E_ARGUMENT;
  if ((p->is_e4m3 || p->narrow) && p->to.bits != 8) return SHUNT_E_ARGUMENT;
  return shunt_integers_fit(&p->to, p->from.rows, p->from.cols) ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

#ifdef __cplusplus
}
#endif
#endif
