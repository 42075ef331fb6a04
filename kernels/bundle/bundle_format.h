/* bundle_format.h: the merged column lists of aligned groups of 8 rows: a hint for the kernel of
   kernels/bundle/bundle_kernels.h, which reads A itself from the caller's CSR.

   For each group the columns in which any of its rows has an entry, ascending, and for each
   such column, a vector, which of the rows have it:

              column  3   4   9  17
     row 8g     |     a   .   b   c    mask bit 0      columns  3     4     9     17
         8g+1   |     d   e   .   f         bit 1      masks    0x03  0x82  0x81  0x83
          ..    |                            ..
         8g+7   |     .   g   h   i         bit 7      count    4

   A group has at most as many vectors as entries, so its list stands where its first entry
   stands in A, and nothing is counted beforehand:

     A's entries   | group 0: 21       | group 1: 13   | group 2: 17   |
     columns       |3 4 9 17 - - - - - |2 3 5 - - - - -|1 8 9 - - - - -|   (as do masks)
     begin          0                   21              34                 count  4 3 3

   What is between lists is not written.  Values are not kept, so new values need no new hint.  A
   hint of an older pattern, or of another matrix of as many rows and columns, costs time and
   nothing else.

   A group is irregular when one of its rows is not strictly ascending, has a column outside of
   the matrix or bad offsets: its count is 0, and as its rows have entries the kernel sees that
   its list is not theirs.

   The longest groups are named once more, for a kernel that gives them more room: long_list holds
   the numbers, ascending, of all groups with a count above SHUNT_BUNDLE_LONG.

   Memory: 5 bytes an entry of A, 8 bytes a group, whatever the pattern is; what is read of it in a
   product is 5 bytes a vector.  entries / vectors, from 1 to 8, is how many times
   fewer rows of B a product loads than row by row.

   All arrays are device memory (host memory for *_host functions) in one allocation that
   belongs to the caller; conv/bundle/bundle_conv.h makes them.  */
#ifndef SHUNT_BUNDLE_FORMAT_H
#define SHUNT_BUNDLE_FORMAT_H

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_BUNDLE_ROWS = 8,  /* rows of a group */
  SHUNT_BUNDLE_LONG = 512 /* more vectors than that: a long group */
};

/* Written by the conversion; the measure by which a router may choose. */
struct shunt_bundle_counts {
  uint64_t vectors;     /* in all groups but irregular ones */
  uint32_t longest;     /* vectors of the longest group */
  uint32_t long_groups; /* numbers in long_list */
  uint32_t irregular;   /* groups that will be computed row by row */
  uint32_t reserved;    /* 0 */
};

struct shunt_bundle {
  int64_t rows, cols, nnz; /* of the matrix that it was made from; nnz is the room of the lists */
  int64_t groups;          /* ceil(rows / 8) */
  struct shunt_bundle_counts *counts;
  uint32_t *begin;     /* [groups] where in columns and masks the group's list begins */
  uint32_t *count;     /* [groups] its vectors; begin + count <= nnz */
  uint32_t *columns;   /* [nnz] from 0, whatever A's base is */
  uint8_t *masks;      /* [nnz] bit r: row r of the group has an entry there */
  uint32_t *long_list; /* [nnz / SHUNT_BUNDLE_LONG] */
  /* NULL, or a word that the device can write: a product sets it to 1 when a group that has a list
     is not what the list says.  The host that reads a 1 makes a new hint.  Not in the allocation.
   */
  uint32_t *stale;
};

#ifdef __cplusplus
}
#endif
#endif
