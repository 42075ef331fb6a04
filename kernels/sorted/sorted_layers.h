/* sorted_layers.h: how layers whose rows were counted are cut (sorted_kernels.h, struct
   shunt_sorted_shape), and what that takes.

   Rows of layers are few, and many of them long: how many have blocks, and how many groups share
   a row, weighs more than anywhere else.  Wide groups look A up less often, narrow ones end the
   longest row sooner.  What a cut takes is estimated by a line for each width of groups, of the
   rows that have a warp or a team each and of the long ones, which have blocks:

     us = start
        and where some rows are not long
          + warp x (warps, thousands) + entry x (entries x slices of C, millions)
          + (step + slow x load) x (entries of a group, of the longest such row, hundreds)
        and where some are
          + start (narrow C: beside others) + block x (blocks, thousands)
          + entry x (entries x slices, millions)
          + (step + slow x load) x (entries of a group, of the longest row, hundreds)

   load: 1 where gathering all of B's rows takes 100 us and more, and falling with that: as long as
   the whole device gathers, a row of B is waited for longer.

   Narrow C, of at most 4 loads of 16 bytes a row, has lines of its own: A is not staged, and rows
   have groups by shares; or, of 3 and 4 loads, it is staged.  Where it is staged a team has two
   groups, rows of 64 entries and more have a warp, 8 rows of B are under way.

   Many short rows, too: they may have two words of a row of B a lane.  Slices of C are half as
   many then, and must be whole; a team has one or two groups, 4 rows of B are under way.

   The lines rest on 68 layers in f16, f32 and f64, 8 to 512 columns, on an H200 (their worth:
   tests/bench/fits/sorted_lines.py, tests/bench/sorted.md).  */
#ifndef SHUNT_SORTED_LAYERS_H
#define SHUNT_SORTED_LAYERS_H

#include "kernels/common/types.h"
#include "kernels/sorted/sorted_format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_SORTED_LAYER_WIDE = 5,        /* of the counts: rows of 64 entries have a warp each, */
  SHUNT_SORTED_LAYER_LEAST_LIMIT = 5, /* or a block, from as many */
  SHUNT_SORTED_LAYER_MOST_LIMIT = 9,  /* to 1,024 on */
  SHUNT_SORTED_LAYER_MOST_LANES_LOG2 = 5
};

/* What a layer is cut for, and what is looked up of its counts once. */
struct shunt_sorted_layer {
  int64_t rows, nonzeros, n, size; /* of A; columns of C, and bytes of an element of B */
  int huge, cluster;               /* of the counts: rows as long have so many blocks each */
  double load;                     /* as above */
  double at_least[SHUNT_SORTED_COUNTS + 1], entries[SHUNT_SORTED_COUNTS + 1]; /* of rows so long */
  double longest[SHUNT_SORTED_COUNTS + 1]; /* entries of the longest row that is shorter, about */
  double powers[SHUNT_SORTED_COUNTS + 1];  /* at_least[j] 2^j of all j below, summed */
  double slices[SHUNT_SORTED_LAYER_MOST_LANES_LOG2 + 2]; /* of C, by groups of 2^i words */
};

struct shunt_sorted_layer_cut {
  int lanes_log2, share; /* share 0: A is staged, */
  int team_log2, words;  /* with so many lanes a team, of so many words each */
  int long_lanes_log2;
  int limit; /* of the counts: rows as long have a block each */
};

/* Are there lines for it?  Rows were counted, none as long as the last that are. */
bool shunt_sorted_layer_has_lines(const struct shunt_sorted_counts *known);

/* Looks up what stands behind `cluster`. */
void shunt_sorted_layer_count(struct shunt_sorted_layer *m,
                              const struct shunt_sorted_counts *known);

/* us that a cut is estimated to take. */
double shunt_sorted_layer_us(const struct shunt_sorted_layer *m,
                             const struct shunt_sorted_layer_cut *c);

/* The cut that is estimated to end first, and *us. */
struct shunt_sorted_layer_cut shunt_sorted_choose_layer_cut(const struct shunt_sorted_layer *m,
                                                            double *us);

#ifdef __cplusplus
}
#endif
#endif
