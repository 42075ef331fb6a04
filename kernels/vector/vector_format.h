/* vector_format.h: the `vector` format: a sparse matrix as V x 1 column vectors, packed for
   the tensor cores.  Values of 16 or 32 bits (f16, bf16, f32).

   The rows stand in aligned groups of 8.  A vector is what the 8 rows of a group have in one
   column; a group has a vector wherever any of its rows has an entry:

              column  3   4   9  17                 fill = entries / (8 x vectors)
     row 8g     |     a   .   b   c    mask bit 0   8 x 1 patterns: 1;  4 x 1: about 1/2;
         8g+1   |     d   e   .   f         bit 1   2 x 1: about 1/4 (less what the parts of
          ..    |                            ..     a group have in common)
         8g+7   |     .   g   h   i         bit 7

   Elements without an entry are stored as zeros, and the mask of the vector says which they
   are: a product that meets a NaN can be repaired, and CSR can be had back exactly.

   Sixteen vectors of a group make a step: one mma.m16n8k16 for each 16 columns of B, of f32 two
   mma.m16n8k8, whose k is slot 2k or 2 (k - 4) + 1, and 8 more.  The
   vectors of a step stand in slots 0 .. 15, each its column (row of B), its mask, and its
   8 values, which lie as the mma wants its B operand (lane l, g = l / 4, t = l % 4):

     values[step][l][0..3] = row g of the vectors in slots 2t, 2t + 1, 2t + 8, 2t + 9

   A slot that is not used has mask 0, zero values, and a column of the matrix that the
   kernel may read.  Two orders of a group's vectors:

   SEQUENTIAL   ascending columns, only a group's last step has unused slots.

   WINDOWED     for kernels that walk B in strips of 128 rows and hold the last 4 of them, a
                window of 512 rows, in shared memory:

                  strip        0   1   2   3 ...  p-3 .......... p  p+1
                                                  |--- window ---|

                A step belongs to the strip at which all its rows are there: all its columns
                lie in that strip or the 3 before it.  Steps are ordered by strip.  Slot s
                and slot s + 8 hold columns that are s modulo 8, so that eight rows read
                together lie on different banks.  When strip p has come, steps are made as
                long as each residue has two vectors waiting, and then as long as some vector
                waits whose row would leave the window, each of the two oldest vectors of
                each residue.  A random pattern with 50, 20, 10, 5, 2 % of all vectors takes 1.06,
                1.16, 1.27, 1.53, 2.2 slots a vector.

   Rows may stand in another order (conv/vector/row_clusters.h): "row 8g + r of the matrix" is then
   row row_of[8g + r], and a product stores it there.

   All arrays are device memory (host memory for *_host functions) in one allocation that
   belongs to the caller; conv/vector/vector_conv.h makes them.  */
#ifndef SHUNT_VECTOR_FORMAT_H
#define SHUNT_VECTOR_FORMAT_H

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_VECTOR_ROWS = 8,            /* rows of a group */
  SHUNT_VECTOR_STEP = 16,           /* slots of a step */
  SHUNT_VECTOR_STRIP = 128,         /* rows of B in a strip */
  SHUNT_VECTOR_STRIPS = 4,          /* strips in a window */
  SHUNT_VECTOR_WINDOW = 512,        /* rows in a window */
  SHUNT_VECTOR_STEP_VALUES = 8 * 16 /* values of a step */
};

enum shunt_vector_order { SHUNT_VECTOR_SEQUENTIAL, SHUNT_VECTOR_WINDOWED };

/* Written by the conversion. */
struct shunt_vector_counts {
  uint64_t vectors, steps; /* in all; slots unused = 16 steps - vectors */
  uint32_t irregular;      /* SHUNT_IRREGULAR: the packed matrix must not be used */
};

struct shunt_vector {
  int64_t rows, cols, nnz;
  int64_t groups, strips;
  shunt_type value_type;
  enum shunt_vector_order order;
  int height; /* rows that were expected to share their lists: 16, 8, 4, 2, 1 */
  struct shunt_vector_counts *counts;
  uint32_t *row_of;    /* [rows] row 8g + r of a group is this row of the matrix; NULL: 8g + r */
  int64_t *before;     /* with row_of: [groups] entries of the groups before */
  uint32_t *begin;     /* [groups] the group's first step */
  uint32_t *count;     /* [groups] its steps */
  uint32_t *strip_end; /* WINDOWED: [groups][strips] its steps of strips 0 .. p */
  uint32_t *columns;   /* [steps][16] */
  uint8_t *masks;      /* [steps][16] bit r: row r has an entry */
  void *values;        /* [steps][32][4] */
};

/* Where in a step's values row r of slot s stands. */
static inline int shunt_vector_place(int r, int s)
{
  return (r * 4 + s % 8 / 2) * 4 + s / 8 * 2 + s % 2;
}

#ifdef __cplusplus
}
#endif
#endif
