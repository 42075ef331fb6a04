/* srbcrs_quantise.h: launchers that make integers of real numbers: symmetric quantisation of a
   dense matrix, and softmax over the entries of a packed one.  The rules of kernels/common/device.h
   hold.

   Symmetric: with L = 2^(bits - 1) - 1, the largest integer used,

     scale = m / L,   q(i, j) = x(i, j) / scale, rounded to the nearest integer, ties to even,
                                bounded by -L and L; 0 for a NaN, and where scale is 0

   m the largest finite |x| of the matrix, or of row i; so that x is scale q, but for what lies
   beyond the bounds.  In f32, with divisions as IEEE has them.  */
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
};
shunt_status shunt_quantise_cuda(const struct shunt_quantise *p, const struct shunt_device *d,
                                 shunt_stream stream);
shunt_status shunt_quantise_host(const struct shunt_quantise *p);

/* P(i, j) = exp(x(i, j) - m(i)) / sum over row i of exp(x(i, j) - m(i)) over the entries of v, x =
   scale S, m(i) the largest x of row i; as integers round(L P), which L = 2^(v->bits - 1) - 1 turns
   back: L P <= L.  S: [strides][height][32] of f32, as shunt_srbcrs_sddmm_cuda writes them.  The
   result is put into v's values.  v->bits: 16 or 8.  A row whose sum is no number (a NaN or +Inf in
   it, or -Inf alone) gives zeros: integers have no NaN.  */
struct shunt_srbcrs_softmax {
  const float *scores;
  float scale;
};
shunt_status shunt_srbcrs_softmax_cuda(const struct shunt_srbcrs_softmax *p,
                                       const struct shunt_srbcrs *v, const struct shunt_device *d,
                                       shunt_stream stream);
/* The twin, in double: results differ by 1 where L P lies between two integers. */
shunt_status shunt_srbcrs_softmax_host(const struct shunt_srbcrs_softmax *p,
                                       const struct shunt_srbcrs *v);

/* Are these operands of a quantisation? */
static inline shunt_status shunt_quantise_check(const struct shunt_quantise *p)
{
  const shunt_type t = p->from.type;
  if (t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (p->problems < 1 || p->problems > 65535 || p->heads < 1) return SHUNT_E_ARGUMENT;
  if (p->from.rows < 1 || p->from.col_stride != 1 || p->from.row_stride < p->from.cols)
    return SHUNT_E_ARGUMENT;
  if (!p->from.values || !p->scales) return SHUNT_E_ARGUMENT;
  return shunt_integers_fit(&p->to, p->from.rows, p->from.cols) ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

#ifdef __cplusplus
}
#endif
#endif
