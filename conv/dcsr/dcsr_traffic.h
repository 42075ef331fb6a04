/* dcsr_traffic.h: the bytes that each traversal of C = A B must move, and which moves fewest.

   A is rows x cols and sparse, B cols x n, C rows x n; beta = 0.  A traversal keeps a tile of one
   operand on the chip and streams the other two past it:

     C-stationary   a row of C          dense tile: `dense_columns` columns of B and C at a time;
     B-stationary   width rows of B     the pattern of A is read again for each of them
     A-stationary   tile_rows x width   all of B's and C's columns stream past each tile of A

              width                     dense_columns
            +-------+-------+          +-----+-----+
            |       |       | tile_    |     |     | width
            |   A   |       | rows     |  B  |     |
            +-------+-------+          +-----+-----+
            |       |       |          |     |     |
            +-------+-------+          +-----+-----+

   Compulsory traffic is what crosses the memory interface if nothing but that tile is kept, no
   cache helps, and nothing is moved that is not used:

                    A                   B (elements)              C (elements)
     C-stationary   passes x whole      nnz n                     rows n written
     B-stationary   passes x strips     strip_columns n           (segments - filled_rows) n read,
     A-stationary   once, strips        tile_columns n            (segments + rows
                                                                    - filled_rows) n written

   passes = ceil(n / dense_columns); `whole` and `strips` are the footprints of the dcsr format
   (kernels/dcsr/dcsr_format.h).  The first segment of a row writes its sums, later ones read, add
   and write; rows without entries are written as zeros.  C counts in the type of the values.

   These are the quantities that Table 1 of Fujiki, Chatterjee, Lee and O'Connor, SC '19, is about.
   The paper's text was not to be had when this was written: the table above is derived from
   the definition, here, and may differ from theirs in what it counts once or twice (their
   B-stationary kernel adds to a zeroed C by atomics, which reads a row's first segment too).  */
#ifndef SHUNT_CONV_DCSR_TRAFFIC_H
#define SHUNT_CONV_DCSR_TRAFFIC_H

#include "kernels/common/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shunt_traffic_tiles {
  int64_t width;         /* columns of a strip of A = rows of a tile of B */
  int64_t tile_rows;     /* rows of a tile of A (A-stationary only) */
  int64_t dense_columns; /* columns of a tile of B or C */
};
/* 64 of each: the paper's strips. */
struct shunt_traffic_tiles shunt_traffic_tiles_default(void);

/* What the traffic is made of.  Exact integers when counted, means when expected. */
struct shunt_traffic_counts {
  double rows, cols, nnz, strips;
  double filled_rows;   /* rows with an entry */
  double segments;      /* rows of strips with an entry */
  double strip_columns; /* columns of the strips that have an entry */
  double tile_columns;  /* columns with an entry of all tiles of A */
};

/* Counted, in O(nnz).  Also the entropy and skewness of the pattern: a segment of m entries has the
   share p = m / nnz,

     H_norm = - sum over segments p log p / log nnz       0 if nnz < 2
     SSF    = nnz x filled_rows / (segments / strips) x (1 - H_norm)

   as shunt_structure_csr_host has them for 64-wide strips, where no entry repeats (see
   conv/profile/structure.c about where the forms come from).  Allocates what it needs for the time
   of the call.  SHUNT_E_ARGUMENT: a bad matrix or tiles below 1; SHUNT_E_MEMORY;
   SHUNT_E_UNSUPPORTED: index type.  */
shunt_status shunt_traffic_count_host(const struct shunt_csr *a,
                                      const struct shunt_traffic_tiles *tiles,
                                      struct shunt_traffic_counts *counts, double *entropy,
                                      double *ssf);

/* The means for a matrix each of whose elements is an entry with probability
   p = nnz / (rows x cols), on its own: the analytic form.  An aligned run of w elements then has
   an entry with probability 1 - (1 - p)^w.  */
void shunt_traffic_expect(int64_t rows, int64_t cols, int64_t nnz,
                          const struct shunt_traffic_tiles *tiles,
                          struct shunt_traffic_counts *counts);

enum shunt_traversal {
  SHUNT_C_STATIONARY,
  SHUNT_B_STATIONARY,
  SHUNT_A_STATIONARY,
  SHUNT_TRAVERSALS
};

/* Bytes. */
struct shunt_traffic {
  double a, b, c_read, c_written;
};
double shunt_traffic_total(const struct shunt_traffic *t);

void shunt_traffic_bytes(const struct shunt_traffic_counts *counts,
                         const struct shunt_traffic_tiles *tiles, int64_t n, shunt_type index,
                         shunt_type value, struct shunt_traffic out[SHUNT_TRAVERSALS]);

/* The traversal that moves fewest bytes where nothing is cached; the earlier of the enum among
   equals.  Which is faster on a GPU that caches: conv/dcsr/dcsr_traversal.h.  */
enum shunt_traversal shunt_traffic_choose(const struct shunt_traffic traffic[SHUNT_TRAVERSALS]);

#ifdef __cplusplus
}
#endif
#endif
