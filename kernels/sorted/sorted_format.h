/* sorted_format.h: the rows of a matrix in the order of their lengths, the longest first; all else
   of A stays in the caller's CSR.

   Lengths are sorted by kinds: one for each length below 32, four for each power of two from there
   on, so that rows of a kind differ by less than a quarter.  Rows of a kind stay in A's order:

     row        0   1   2   3   4   5   6   7
     length     2   0  90   1  40   0   3   1
     kind       2   0  37   1  33   0   3   1
     order      2   4   6   0   3   7   1   5

   A kernel that takes rows by their places in `order` takes each once, whatever A has become since:
   an order of an older pattern, or of another matrix of as many rows, costs time and nothing else.
   So it needs no proof.

   Memory: 4 bytes a row for the order, and 2.5 to 2.9 for sorting.  One allocation of the caller's,
   device memory (host memory for *_host functions); conv/sorted/sorted_conv.h makes it.  */
#ifndef SHUNT_SORTED_FORMAT_H
#define SHUNT_SORTED_FORMAT_H

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_SORTED_KINDS = 96, /* the last one has no upper end */
  SHUNT_SORTED_COUNTS = 14
};

/* at_least[0]: rows that are not empty; at_least[i]: rows of 2 x 2^i entries and more, from 4 to
   16,384.  So many rows stand in front in the order.  */
struct shunt_sorted_counts {
  uint32_t at_least[SHUNT_SORTED_COUNTS];
};

struct shunt_sorted {
  int64_t rows;
  struct shunt_sorted_counts *counts;
  uint32_t *order; /* [rows] numbers of rows */

  /* For sorting, by runs of rows: */
  uint8_t *kind;    /* [rows] of each row, in A's order */
  uint32_t *all;    /* [SHUNT_SORTED_KINDS] rows of each kind, */
  uint32_t *places; /* [SHUNT_SORTED_KINDS][runs] and of those, how many the runs before have */
  int64_t run;      /* rows of a run, a multiple of 32 */
  int64_t runs;

  /* NULL, or a word that the device can write: a product sets it to 1 when a row is longer than it
     was when it was sorted, and in the wrong hands.  The host that reads a 1 sorts anew.  Not in
     the allocation.  */
  uint32_t *stale;
};

#ifdef __CUDACC__
#define SHUNT_SORTED_INLINE static inline __host__ __device__
#else
#define SHUNT_SORTED_INLINE static inline
#endif

/* The kind of rows of `length` entries; of impossible lengths, 0. */
SHUNT_SORTED_INLINE int shunt_sorted_kind(int64_t length)
{
  int power = 5;
  if (length < 32) return length > 0 ? (int)length : 0;
  while (power < 20 && length >> (power + 1)) power++;
  const int64_t quarters = length >> (power - 2); /* of that power: 4 to 7 */
  return 4 * power + 8 + (int)(quarters < 8 ? quarters : 7);
}

/* The least entries of the rows that at_least[i] counts. */
SHUNT_SORTED_INLINE int64_t shunt_sorted_least(int i)
{
  return i == 0 ? 1 : (int64_t)2 << i;
}

/* Of a row of `length` entries, 1 and more: the last i that at_least[i] counts it. */
SHUNT_SORTED_INLINE int shunt_sorted_count_of(int64_t length)
{
  int i = 0;
  while (i + 1 < SHUNT_SORTED_COUNTS && length >> (i + 2)) i++;
  return i;
}

/* Rows of `least` entries and more, of `rows` in all: no more than there are, as counts may be an
   older matrix's; all of them for 0; -1: they are not counted. */
SHUNT_SORTED_INLINE int64_t shunt_sorted_rows_of(const struct shunt_sorted_counts *known,
                                                 int64_t least, int64_t rows)
{
  if (least == 0) return rows;
  const int i = shunt_sorted_count_of(least);
  if (shunt_sorted_least(i) != least) return -1;
  return known->at_least[i] < rows ? (int64_t)known->at_least[i] : rows;
}

#ifdef __cplusplus
}
#endif
#endif
