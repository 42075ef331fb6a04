/* semiring_loops.h: the inner loops of the host engine, one set per instruction set.

   A semiring with FIRST, SECOND or PAIR is one with TIMES (or ADD) whose other operand is the
   neutral element, so four pairs of operators are enough:

     s FIRST b = s * 1      s SECOND b = 1 * b      s PAIR b = 1 * 1
     MIN:        s + -0.0               -0.0 + b               (1 + -0.0)

   Each set is the same source (semiring_element.h), built for another instruction set.  */
#ifndef SHUNT_SEMIRING_LOOPS_H
#define SHUNT_SEMIRING_LOOPS_H

#include "kernels/semiring/semiring_kernels.h"

enum shunt_semiring_op {
  SHUNT_OP_PLUS_TIMES,
  SHUNT_OP_MAX_TIMES,
  SHUNT_OP_MIN_ADD,
  SHUNT_OP_MAX_ADD,
  SHUNT_OP_COUNT
};

/* The widest tile of any set, in elements. */
enum { SHUNT_TILE_MAX = 64 };

/* Rows begin <= v < end of S times one tile of `width` columns of B:

     S  offsets, indices, values          B                    out
     row v | k0 k1 k2 .. |       row k  |.. tile ..|    row v - origin |.. tile ..|

   Indices are 32 bits, index_step bytes apart: the lower half, if they have 64.  Values are aligned
   to 4 bytes.  Element (k, j) of the tile is b[k * b_stride + j]; b_stride 0 repeats one row.  With
   `mask` (elements of b's width, all bits set or none, strides of b), elements whose mask is 0 take
   no part, and `exists` gets, in the same form and with out's stride, which sums have a term.
   Rows without entries: zero, or left alone when accumulating.  */
struct shunt_rows_job {
  const void *offsets, *indices, *values, *ids;
  int offset_bytes, id_bytes;
  int64_t index_step, value_step; /* bytes; value_step 0: values holds one element for all */
  int64_t last;                   /* the last entry of S, for prefetching */
  bool far;                       /* rows of B come from beyond the caches of a core: prefetch */
  const void *b, *mask;
  int64_t b_stride;
  void *out, *exists;
  int64_t out_stride;
  int64_t origin; /* row of `out` for vector v is id(v) - origin, with ids NULL: v - origin */
  int width;      /* 1 .. SHUNT_TILE_MAX */
  bool accumulate;
};

/* out[q] = sum over k < depth of left(id(v), k) (x) right(index(q), k) for the entries q of
   the vectors begin <= v < end.  Both operands row-major, stride 0 repeats one row.  */
struct shunt_dots_job {
  const void *offsets, *indices, *ids;
  int offset_bytes, index_bytes, id_bytes;
  const void *left, *right;
  int64_t left_stride, right_stride, depth;
  void *out;
};

struct shunt_semiring_kernels {
  int narrow; /* the widest tile that `spread` takes */
  void (*rows)(const struct shunt_rows_job *job, int64_t begin, int64_t end);
  /* As `rows`, with the same results, for an S whose rows often have the columns of the row
     before; no mask.  NULL: there is none for this semiring.  */
  void (*groups)(const struct shunt_rows_job *job, int64_t begin, int64_t end);
  /* The other way round: the job's S is held by column, its vectors are rows of B.  Entries
     first .. end, the first of which is of vector `begin`, add their terms to the rows of `out`
     that their indices say, which hold sums (or what the monoid begins with); origin, mask, last
     and accumulate are not read, and `exists` has a byte for each row, which becomes 1.  */
  void (*spread)(const struct shunt_rows_job *job, int64_t first, int64_t end, int64_t begin);
  void (*dots)(const struct shunt_dots_job *job, int64_t begin, int64_t end);
};

/* t: SHUNT_F32, F64, I32, I64 or U64. */
const struct shunt_semiring_kernels *shunt_semiring_baseline(shunt_type t,
                                                             enum shunt_semiring_op op);
#if defined(__x86_64__) && defined(__GNUC__)
#define SHUNT_SEMIRING_X86 1
const struct shunt_semiring_kernels *shunt_semiring_avx2(shunt_type t, enum shunt_semiring_op op);
const struct shunt_semiring_kernels *shunt_semiring_avx512(shunt_type t, enum shunt_semiring_op op);
#endif

#endif
