/* srbcrs_format.h: the `srbcrs` format, strided row-major block compressed rows: a sparse matrix
   of integers as V x 1 column vectors, V = 2, 4 or 8, in strides as wide as one mma reduces.

   (SR-BCRS of "Efficient Quantized Sparse Matrix Operations on Tensor Cores", SC'22.)

   The rows stand in aligned groups of V.  A vector is what the V rows of a group have in one
   column; a group has a vector wherever any of its rows has an entry:

              column  3   9  17  40                  V = 4, the group's rows 4g .. 4g + 3
     row 4g     |     a   d   .   k    mask bit 0
         4g+1   |     b   e   h   l         bit 1    fill = entries / (V x vectors)
         4g+2   |     .   f   i   m         bit 2
         4g+3   |     c   g   j   n         bit 3

   Thirty-two vectors of a group make a stride: what mma.m16n8k32 reduces.  The last stride of a
   group is padded, with zeros and with the column of the group's last vector (0 if there is
   none), so that a kernel may read that row of B and add nothing.  A row of groups has two
   pointers, since where the next group begins does not tell how many slots are padding:

     group             g                               g + 1
     strides    | stride | stride | stride  |unused| stride | ..
     slots      |0 .. 31 |32 .. 63|64 .. 95 |      |
                ^                       ^          ^
                begin[g]                end[g]     begin[g + 1]      begin: a multiple of 32

   Within a stride the values stand row by row, so that four neighbouring slots of a row are one
   register of the mma's operand.  Of 8 bits:

     columns [stride][32]      | 3  9 17 40 .. |        the row of B for each slot
     values  [stride][V][32]   | a  d  .  k .. |        row 0      . is a zero
                               | b  e  h  l .. |        row 1
                               | .  f  i  m .. |        row 2
                               | c  g  j  n .. |        row 3
     masks   [stride][32]      |13 15 14 15 .. |        bit r: row r has an entry there

   Of 16 bits, the low bytes of a stride stand before the high ones; of 4 bits, a byte has slots 16
   apart, the two that a lane of the mma wants; of 12 bits, the low bytes of a stride stand before
   the high nibbles:

     16   [stride][2][V][32]   | low bytes of row 0 | .. row 1 | .. | high bytes of row 0 | ..
      4   [stride][V][16]      byte b of a row: | slot b + 16 | slot b |  (the low nibble)
     12   [stride] of 48 V     | low bytes, [V][32] | high nibbles, [V][16] |

   Products read columns and values alone.  The masks say which zeros are entries: with them CSR
   comes back exactly.  Columns of a group ascend, but where the vectors are spread:

   SPREAD, of 8 bits, for kernels that hold a window of B in shared memory and read eight rows of
   it at a time, those of slots 16h + 2b + 4t + e, t = 0 .. 3, e = 0, 1, for h and b.  Rows that are
   the same modulo 8 lie on the same banks, so the vectors of a group are dealt out:

     pool      the next 64 vectors of the group, or as many as are left
     stride    of each residue modulo 8 the first four among those less than 896 columns from the
               pool's first, number k into the eight slots of h = k / 2, b = k % 2; then the pool's
               first others, and at the end padding, into what slots are free

   So the columns of a stride lie within 896 of its least, but where the pool has not 32 such.
   Eight rows take 1.4 cycles at 10 % stored, where ascending ones take 2.5.

   All arrays are device memory (host memory for *_host functions) in one allocation that
   belongs to the caller; conv/srbcrs/srbcrs_conv.h makes them.  */
#ifndef SHUNT_SRBCRS_FORMAT_H
#define SHUNT_SRBCRS_FORMAT_H

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_SRBCRS_STRIDE = 32, /* slots */
  SHUNT_SRBCRS_TALLEST = 8, /* rows of a group, at most */
  SHUNT_SRBCRS_POOL = 64,   /* vectors that a spread stride is chosen from */
  SHUNT_SRBCRS_REACH = 896  /* columns */
};

/* Slot number i of those that are read together with number k's, k = 2h + b. */
#define SHUNT_SRBCRS_SPREAD_SLOT(k, i) ((k) / 2 * 16 + (k) % 2 * 2 + (i) / 2 * 4 + (i) % 2)

/* Written by the conversion. */
struct shunt_srbcrs_counts {
  uint64_t vectors, strides; /* in all; padding = 32 strides - vectors */
  uint32_t irregular;        /* SHUNT_IRREGULAR: the packed matrix must not be used */
  uint32_t longest;          /* strides of the group that has the most */
};

struct shunt_srbcrs {
  int64_t rows, cols, nnz;
  int64_t groups;
  int height;            /* V: rows of a group */
  int bits;              /* of a value: 16, 12, 8 or 4 */
  shunt_type value_type; /* SHUNT_I16 of 16 and 12 bits, SHUNT_I8, or SHUNT_U8 of 8 bits */
  struct shunt_srbcrs_counts *counts;
  uint32_t *begin, *end; /* [groups] slots: the first one, and the one behind the last vector */
  uint32_t *columns;     /* [strides][32] */
  uint8_t *masks;        /* [strides][32] */
  uint8_t *values;       /* as above; columns and values aligned to 256 bytes */
};

/* Where row r in slot s (of all strides) stands among values of one array element each. */
static inline int64_t shunt_srbcrs_place(int height, int r, int64_t s)
{
  return (s / SHUNT_SRBCRS_STRIDE * height + r) * SHUNT_SRBCRS_STRIDE + s % SHUNT_SRBCRS_STRIDE;
}

/* The value of row r in slot s of a matrix in host memory. */
static inline int shunt_srbcrs_value(const struct shunt_srbcrs *v, int r, int64_t s)
{
  const int64_t stride = s / SHUNT_SRBCRS_STRIDE, at = s % SHUNT_SRBCRS_STRIDE;
  const int64_t place = shunt_srbcrs_place(v->height, r, s);
  if (v->value_type == SHUNT_U8) return v->values[place];
  if (v->bits == 8) return (int8_t)v->values[place];
  if (v->bits == 16) {
    const int64_t low = place + stride * v->height * SHUNT_SRBCRS_STRIDE;
    const int64_t high = low + (int64_t)v->height * SHUNT_SRBCRS_STRIDE;
    return (int16_t)(v->values[low] | v->values[high] << 8);
  }
  /* Of a stride: bytes, and those before its nibbles. */
  const int64_t all = (int64_t)v->height * SHUNT_SRBCRS_STRIDE * v->bits / 8;
  const int64_t front = v->bits == 12 ? v->height * SHUNT_SRBCRS_STRIDE : 0;
  const uint8_t *of_stride = v->values + stride * all;
  const int nibble = of_stride[front + r * (SHUNT_SRBCRS_STRIDE / 2) + at % 16] >> at / 16 * 4 & 15;
  const int high = nibble < 8 ? nibble : nibble - 16;
  return v->bits == 12 ? high * 256 + of_stride[r * SHUNT_SRBCRS_STRIDE + at] : high;
}

#ifdef __cplusplus
}
#endif
#endif
