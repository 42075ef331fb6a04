/* srbcrs_integers.h: dense operands of 16-, 8- and 4-bit integers, what becomes of the int32 sums
   of their products, and the launchers of SpMM and SDDMM over the `srbcrs` format.

     spmm    C(i, j) = sum over k of A(i, k) B(k, j)      A packed, of 16, 8 or 4 bits
     sddmm   x(i, j) = sum over k of A(i, k) B(j, k)      at the entries (i, j) of a packed pattern

   ("Efficient Quantized Sparse Matrix Operations on Tensor Cores", SC'22.)

   The rules of kernels/common/device.h hold.  Sums are int32 and wrap: whatever the operands hold,
   the result is the true sum modulo 2^32.  A sum of `k` products, of
   an SpMM the entries of a row, cannot leave int32 while k is at most

     bits    16 x 16   16 x 8   16 x 4    8 x 8     8 x 4      4 x 4
     k             1      511     8191   131071   2097151   33554431     (2^31 - 1) / 2^(bits - 2)
     bits             12 x 8   12 x 4
     k                  8191   131071

   with both signed; half of it with one unsigned (1 of 16 x 16 bits, 65793 of 8 x 8), a quarter
   with both (none of 16 x 16); and beyond it while k times the largest products stay below
   2^31.  */
#ifndef SHUNT_SRBCRS_INTEGERS_H
#define SHUNT_SRBCRS_INTEGERS_H

#include "kernels/common/device.h"
#include "kernels/srbcrs/srbcrs_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A dense matrix of integers by rows, of 16, 8 or 4 bits each, signed or not.  Row i begins
   row_bytes i bytes behind `values`; both are multiples of 16 bytes, and so much memory a row has.
   What stands behind a row's last element is read, and does not matter.  Of 4 bits, two a byte:

     byte b of a row   | element 2b + 1 | element 2b |      the low nibble has the even one  */
struct shunt_integers {
  const void *values;
  int bits;
  int64_t rows, cols, row_bytes;
  int is_unsigned; /* 0: signed */
};

/* What becomes of an int32 sum at (i, j), i a row of the sparse matrix:

     SHUNT_I32                        the sum; the scales are not read
     SHUNT_F32, SHUNT_F16,            (float)sum *
     SHUNT_BF16, SHUNT_I8               (scale * tensor_scale[0] * row_scales[i] * col_scales[j])

   in f32 from the left to the right, rounded to the type once; to SHUNT_I8 to the nearest integer,
   ties to even, bounded by -128 and 127, 0 for a NaN.  NULL: 1; what is not stands where the
   operands do.  */
struct shunt_scaling {
  shunt_type type;
  float scale;
  const float *tensor_scale, *row_scales, *col_scales;
};

/* Problems of one pattern, 1 .. 65535 of them, that one launch takes side by side.  What the others
   have stands behind what the first one has: dense operands rows x row_bytes bytes further on, a
   tensor scale, a scale for each row and for each column of the result; what stands at the
   pattern's entries, scores and v's own values, `places` elements further on, a number of whole
   strides of V rows.  Zeros: one problem.  */
struct shunt_srbcrs_problems {
  int64_t count, places;
};
static inline int64_t shunt_srbcrs_count(const struct shunt_srbcrs_problems *p)
{
  return p->count > 1 ? p->count : 1;
}
static inline int shunt_srbcrs_problems_fit(const struct shunt_srbcrs_problems *p, int height)
{
  if (p->count < 0 || p->count > 65535 || p->places < 0) return 0;
  return p->count <= 1 || (p->places > 0 && p->places % (height * SHUNT_SRBCRS_STRIDE) == 0);
}

/* a: v->rows x k, b: v->cols x k, of the same bits.  values: [strides][height][32] of scaling.type,
   aligned to 16 bytes, as v's own values lie (srbcrs_format.h): entries in the order of their row,
   zeros where there is no entry.  Strides that no group has are not written.  */
struct shunt_srbcrs_sddmm {
  struct shunt_integers a, b;
  struct shunt_scaling scaling;
  void *values;
  struct shunt_srbcrs_problems problems;
};

/* How SDDMM cuts its work: warps of a block, each of a group of its own, and blocks that a
   multiprocessor holds at once; of 16 bits, whose sums have three accumulators, and of fewer. */
enum {
  SHUNT_SRBCRS_SDDMM_WARPS_16 = 16,
  SHUNT_SRBCRS_SDDMM_RESIDENT_16 = 1,
  SHUNT_SRBCRS_SDDMM_WARPS = 12,
  SHUNT_SRBCRS_SDDMM_RESIDENT = 2
};
/* Needs compute capability 8.0.  v's values are not read.  phases: warps that share the strides of
   a group, 1 or more; it does not change the result.  SHUNT_E_UNSUPPORTED, SHUNT_E_ARGUMENT:
   nothing was enqueued.  */
shunt_status shunt_srbcrs_sddmm_cuda(const struct shunt_srbcrs_sddmm *p,
                                     const struct shunt_srbcrs *v, int64_t phases,
                                     const struct shunt_device *d, shunt_stream stream);
/* The twin. */
shunt_status shunt_srbcrs_sddmm_host(const struct shunt_srbcrs_sddmm *p,
                                     const struct shunt_srbcrs *v);

/* C = A B.  b: v->cols x n, of no more bits than v has.  c: v->rows x n by rows, c_row_stride
   elements apart, of scaling.type.  Of several problems c is that of head 0 of batch 0, and the
   first problem is number c_first, batch * heads + head; the strides are elements.  Shapes:
   columns 32 and 64 of 16 bits, 32, 64 and 128 of 8, 64 and 128 of 4; they do not change the
   result.  Needs compute capability 8.0.  SHUNT_E_UNSUPPORTED, SHUNT_E_ARGUMENT: nothing was
   enqueued.  */
struct shunt_srbcrs_integer_spmm {
  struct shunt_integers b;
  struct shunt_scaling scaling;
  void *c;
  int64_t c_row_stride;
  struct shunt_srbcrs_problems problems;
  int64_t c_first, heads, head_stride, batch_stride; /* read where problems.count > 1 */
};
/* Is there such a shape for B of so many bits? */
int shunt_srbcrs_integer_spmm_has(const struct shunt_srbcrs_shape *shape, int bits_b);
shunt_status shunt_srbcrs_integer_spmm_cuda(const struct shunt_srbcrs_integer_spmm *p,
                                            const struct shunt_srbcrs *v,
                                            const struct shunt_srbcrs_shape *shape,
                                            const struct shunt_device *d, shunt_stream stream);
/* The twin. */
shunt_status shunt_srbcrs_integer_spmm_host(const struct shunt_srbcrs_integer_spmm *p,
                                            const struct shunt_srbcrs *v);

/* Is there such a result? */
static inline int shunt_is_scaled_type(shunt_type t)
{
  return t == SHUNT_I32 || t == SHUNT_F32 || t == SHUNT_F16 || t == SHUNT_BF16 || t == SHUNT_I8;
}

/* Is m as above, with `cols` of the bits given in each row? */
static inline int shunt_integers_fit(const struct shunt_integers *m, int64_t rows, int64_t cols)
{
  if ((m->bits != 16 && m->bits != 8 && m->bits != 4) || m->rows != rows || m->cols != cols)
    return 0;
  if (cols < 1 || cols > INT32_MAX - 1024 || !m->values || (uintptr_t)m->values % 16) return 0;
  return m->row_bytes % 16 == 0 && m->row_bytes >= (cols * m->bits + 7) / 8;
}

#ifdef __cplusplus
}
#endif
#endif
