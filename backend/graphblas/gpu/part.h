/* part.h: how a product is dealt out: which rows of S and C, and which columns of B and C, each
   device computes.

     columns                  rows                     turns: two devices, three rounds
       S      B, C              S      B      C          S
     +---+   +-+-+-+          +---+   +---+  +---+     +---+
     |all|   |0|1|2|          | 0 |   |all|  | 0 |     |0 1|   round 0
     +---+   +-+-+-+          +---+   +---+  +---+     |0 1|   round 1, in the place of round 0
                              | 1 |          | 1 |     |0 1|   round 2
                              +---+          +---+     +---+

     columns   S on each device; whole pieces of 16 bytes of a row, the last one less, one at least
     rows      a part of S on each, where it stays under its rows; B on each
     turns     parts of S's rows, one after another on each device, of which none stays: S may be
               larger than all devices together

   Rows are cut where as many entries lie before as behind, each row counting as a few; of an S by
   column, where that would want a pass over it, evenly.  Cut i of n is cut 2i of 2n, and depends on
   S alone.  Pure functions.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PART_H
#define SHUNT_GRAPHBLAS_GPU_PART_H

#include "backend/graphblas/gpu/gpu_engine.h"

/* Rows row <= i < row_end of S and C, columns first <= j < last of B and C. */
struct grb_gpu_part {
  int64_t row, row_end, first, last;
};

struct grb_gpu_deal {
  enum grb_gpu_way way; /* not GRB_GPU_ANY_WAY */
  int devices, rounds;  /* rounds: 1, but for turns; 0: there is no room for them */
};

enum { GRB_GPU_MOST_ROUNDS = 4096 };

/* Into how many pieces of 16 bytes the columns are cut: the most devices that can share them. */
int64_t grb_gpu_pieces(const struct shunt_host_spmm *p);
/* What a device computes in a round.  Rows may be none. */
struct grb_gpu_part grb_gpu_part_of(const struct shunt_host_spmm *p,
                                    const struct grb_gpu_deal *deal, int round, int device);
bool grb_gpu_part_has_all_rows(const struct shunt_host_spmm *p, const struct grb_gpu_part *part);
/* Of S in the part: exact by row, the mean by column. */
int64_t grb_gpu_part_entries(const struct shunt_host_spmm *p, const struct grb_gpu_part *part);
/* The first vector of an S by row whose row is not before `row`. */
int64_t grb_gpu_first_vector(const struct shunt_sparse *s, int64_t row);

/* The part's rows as a product of their own, of all columns: S has as many rows and entries, but
   the arrays of the whole.  */
struct shunt_host_spmm grb_gpu_part_product(const struct shunt_host_spmm *p,
                                            const struct grb_gpu_part *part, int64_t entries);

#endif
