/* semiring_kernels.h: products over semirings on the CPU, the host engine of the
   GraphBLAS backend (kernels/semiring/semiring_*.c).

   All arrays are host memory of the caller.  Nothing here prints or fails half-way: a
   function that does not return SHUNT_OK has not touched its outputs.  One block of scratch,
   of at most 64 MiB, is kept for the next call, and nothing else.  Thread-safe; each call
   uses at most `threads` OpenMP threads, fewer where there is little to do.  Deterministic
   for a given number of threads; integers and MIN/MAX for any.

   A GraphBLAS matrix held by column is the transpose held by row, so one sparse struct
   serves both, and full x sparse is computed as its transpose with FIRST and SECOND
   exchanged.  */
#ifndef SHUNT_SEMIRING_KERNELS_H
#define SHUNT_SEMIRING_KERNELS_H

#include <stdbool.h>

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum shunt_monoid {
  SHUNT_PLUS, /* integers wrap */
  SHUNT_MIN,  /* fmin: a NaN is ignored */
  SHUNT_MAX,  /* fmax */
  SHUNT_ANY   /* any of them: masked products of sparse operands and frontiers only */
};

enum shunt_multiplier {
  SHUNT_TIMES,
  SHUNT_FIRST,  /* s (x) b = s */
  SHUNT_SECOND, /* s (x) b = b */
  SHUNT_PAIR,   /* s (x) b = 1 */
  SHUNT_ADD     /* s (x) b = s + b */
};

/* One type for both operands and the result: SHUNT_F32, F64, I32, I64 or U64; of masked products of
   sparse operands also U8, which holds 0 and 1, and I32 that is_unsigned.  */
struct shunt_semiring {
  enum shunt_monoid monoid;
  enum shunt_multiplier multiplier;
  shunt_type type;
  bool is_unsigned;
};

/* A sparse matrix as a list of vectors, each the entries of one row (or one column).

     ids      [vectors]       which row vector v is; NULL: v itself (not hypersparse)
     offsets  [vectors + 1]   entries of v: offsets[v] <= p < offsets[v + 1], from 0
     indices  [nnz]           the column (row) of entry p; unique within a vector, any order
     values   [nnz], or [1] when iso

   Index arrays are 4 or 8 bytes wide, each on its own (GraphBLAS 10). */
struct shunt_sparse {
  int64_t rows, cols, vectors, nnz;
  bool by_column; /* vectors are columns: ids and offsets speak of columns, indices of rows */
  const void *ids, *offsets, *indices, *values;
  int id_bytes, offset_bytes, index_bytes;
  bool iso;
};

/* A dense operand: element (i, j) is at i * row_stride + j * col_stride, one of which is
   1.  `present` (NULL: all) says with nonzero bytes, at the same places, which elements
   exist; missing ones take part in nothing.  iso: values holds one element for all. */
struct shunt_full {
  int64_t rows, cols, row_stride, col_stride;
  void *values;
  int8_t *present;
  bool iso;
};

/* C = S (x) B, or C (+)= S (x) B with the semiring's own monoid.

   T(i,j) = sum over k of S(i,k) (x) B(k,j), over the k where both exist; it exists if any
   does.
     accumulate false: C(i,j) = T(i,j); where T(i,j) does not exist, c.present (if given)
                       becomes 0 and the value 0.  c.present becomes 1 elsewhere.
     accumulate true:  C(i,j) = C(i,j) (+) T(i,j) where T(i,j) exists, C(i,j) stays
                       elsewhere; c.present must be NULL (C is full).
   C overlaps no input.  c.iso must be false. */
struct shunt_host_spmm {
  struct shunt_semiring semiring;
  struct shunt_sparse s;
  struct shunt_full b, c;
  bool accumulate;
  int threads;
};
/* SHUNT_E_UNSUPPORTED: semiring (PLUS of ADD, MIN of TIMES) or type not built, S by column with
   2^31 columns or more, or B of 2^32 rows or more that are not all one.  SHUNT_E_MEMORY: scratch.
   SHUNT_E_ARGUMENT: shapes, strides or widths that are not as above.
   Beside the product itself a call costs one pass over B when B is by column or has missing
   elements, or rows that straddle cache lines and are used often, and one over S's rows when S is
   by column: it does not pay where S has far fewer entries than B or C has rows.  */
shunt_status shunt_host_spmm(const struct shunt_host_spmm *p);
/* The slow, obviously right twin: one thread, any layout, no blocking. */
shunt_status shunt_host_spmm_twin(const struct shunt_host_spmm *p);

/* SDDMM: out[p] = sum over k of U(i,k) (x) V(k,j) for every entry p = (i,j) of
   `pattern` (whose values are not read; out is indexed like `indices`).  U is m x k, V
   k x n, k > 0, both without missing elements.  The mask is applied by the caller, who
   leaves out of the pattern what is masked out. */
struct shunt_host_sddmm {
  struct shunt_semiring semiring;
  struct shunt_sparse pattern;
  struct shunt_full u, v;
  void *out;
  int threads;
};
shunt_status shunt_host_sddmm(const struct shunt_host_sddmm *p);
shunt_status shunt_host_sddmm_twin(const struct shunt_host_sddmm *p);

#ifdef __cplusplus
}
#endif
#endif
