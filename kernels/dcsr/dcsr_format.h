/* dcsr_format.h: the `dcsr` format (densified CSR): CSR without its empty rows, of the whole
   matrix or of each of its vertical strips.

   A strip is `width` columns wide (the last one may be narrower) and as high as the matrix.  A
   segment is a row of a strip that has an entry.  Segments stand strip by strip, in a strip by
   row; each names its row:

        columns  0 1 2 3   4 5 6 7            whole: one strip, as wide as the matrix
     row 0       . a . . | b . . .
         1       . . . . | . . . .              strip_begin  0 3
         2       c d . . | . . . e              row_ids      0   2     4
         3       . . . . | . . . .              offsets      0   2     5 6
         4       . . . . | . . f .              columns      1 4 0 1 7 6
                                                values       a b c d e f
                 strip 0   strip 1
                                              width 4: two strips
     strip s has segments                                  strip 0 | strip 1
       strip_begin[s] <= g < strip_begin[s + 1]
     segment g is row row_ids[g] and has        strip_begin  0       2       5
       entries offsets[g] <= p < offsets[g+1]   row_ids      0 2     0 2 4
     entry p stands in column columns[p]        offsets      0 1     3 4 5 6
                                                columns      1 0 1   4 7 6
                                                values       a c d   b e f

   Columns are those of the matrix, not of the strip.  All indices count from 0 and are of one
   type, 32 or 64 bits.  Entries of a segment keep the order they had in the matrix that the
   format was made from; they may repeat (repeated entries add up).  Stored zeros are entries.

   Footprint, with I bytes an index and V bytes a value:

     CSR    (rows + 1) I                          + entries (I + V)
     dcsr   (strips + 1) I + (2 segments + 1) I   + entries (I + V)

   As segments <= entries, strips of any width take at most about (3 I + V) / (I + V) times
   what the entries of CSR take: twice for 32-bit indices and fp32, and less than CSR as a whole
   where most rows are empty.

   Fujiki, Chatterjee, Lee and O'Connor, "Near-Memory Data Transformation for Efficient Sparse
   Matrix Multi-Vector Multiplication", SC '19, multiply from this format; the order of the arrays
   above is ours.

   All arrays are device memory (host memory for *_host functions) in one allocation that
   belongs to the caller; conv/dcsr/dcsr_conv.h makes them.  */
#ifndef SHUNT_DCSR_FORMAT_H
#define SHUNT_DCSR_FORMAT_H

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SHUNT_DCSR_STRIP = 64 /* columns of a strip, where nothing else is asked for */ };

/* Written by the conversion. */
struct shunt_dcsr_counts {
  uint64_t segments;  /* in all: strip_begin[strips] */
  uint64_t fault;     /* 0: none; else why it is irregular, see shunt_dcsr_fault_place */
  uint32_t irregular; /* SHUNT_IRREGULAR: the arrays must not be used */
};

struct shunt_dcsr {
  int64_t rows, cols, nnz;
  int64_t width, strips; /* strips = ceil(cols / width); 0 of both: no columns */
  int64_t room;          /* segments that row_ids and offsets have room for */
  shunt_type index_type; /* SHUNT_I32 or SHUNT_I64: of all index arrays */
  shunt_type value_type;
  struct shunt_dcsr_counts *counts;
  void *strip_begin; /* [strips + 1] */
  void *row_ids;     /* [room] the first counts->segments are used */
  void *offsets;     /* [room + 1] */
  void *columns;     /* [nnz] */
  void *values;      /* [nnz] */
};

#ifdef __cplusplus
}
#endif
#endif
