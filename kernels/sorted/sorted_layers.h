/* sorted_layers.h: how layers whose rows were counted are cut (sorted_kernels.h, struct
   shunt_sorted_shape).

   Rows of layers are few, and many of them long: how many have blocks, and how many groups share
   a row, weighs more than anywhere else.  Wide groups look A up less often, narrow ones end the
   longest row sooner.  What a cut takes is estimated by a line for each width of groups, of the
   rows that have a warp or a team each and of the long ones, which have blocks:

     us = start + warp x (warps, thousands) + entry x (entries x slices of C, millions)
          + (step + slow x load) x (entries of a group, of the longest such row, hundreds)
        and where rows are long
          + start + block x (blocks, thousands) + entry x (entries x slices, millions)
          + (step + slow x load) x (entries of a group, of the longest row, hundreds)

   load: 1 where gathering all of B's rows takes 100 us and more, and falling with that: as long as
   the whole device gathers, a row of B is waited for longer.
   A team has two groups, rows of 64 entries and more have a warp, 8 rows of B are under way.  The
   lines rest on 46 layers in f16, f32 and f64, 32 to 512 columns, on an H200 (their worth:
   tests/bench/fits/sorted_lines.py, tests/bench/sorted.md).  */
#ifndef SHUNT_SORTED_LAYERS_H
#define SHUNT_SORTED_LAYERS_H

#include "kernels/common/types.h"
#include "kernels/sorted/sorted_format.h"

enum {
  SHUNT_SORTED_LAYER_LEAST_LANES_LOG2 = 2,      /* of a row's groups, */
  SHUNT_SORTED_LAYER_LEAST_LONG_LANES_LOG2 = 3, /* of a long one's */
  SHUNT_SORTED_LAYER_MOST_LANES_LOG2 = 5,
  SHUNT_SORTED_LAYER_WIDE = 5,        /* of counts: rows of 64 entries have a warp each, */
  SHUNT_SORTED_LAYER_LEAST_LIMIT = 5, /* or from as many */
  SHUNT_SORTED_LAYER_MOST_LIMIT = 9   /* to 1,024 on a block */
};

struct shunt_sorted_layer_line {
  double start, warp, entry, step, slow; /* warp: of long rows a block */
};

/* What a layer is cut for: A's sizes, columns of C, and bytes of an element of B. */
struct shunt_sorted_layer {
  int64_t rows, nonzeros, n, size;
  int huge, cluster; /* of the counts: rows as long have so many blocks each */
  double at_least[SHUNT_SORTED_COUNTS + 1], entries[SHUNT_SORTED_COUNTS + 1]; /* of rows so long */
};

struct shunt_sorted_layer_cut {
  int lanes_log2, long_lanes_log2;
  int limit; /* of the counts: rows as long have a block each */
};

/* Are there lines for it?  Rows are not so short that several are one team's list, nor as long as
   the last that are counted, and C is wider than what A is not staged for.  */
static inline bool shunt_sorted_layer_has_lines(const struct shunt_sorted_layer *m,
                                                const struct shunt_sorted_counts *known)
{
  enum { LEAST_MEAN = 16 };
  return m->n * m->size > 4 * 16 && m->nonzeros >= LEAST_MEAN * m->rows && known->at_least[0] > 0 &&
         known->at_least[SHUNT_SORTED_COUNTS - 1] == 0;
}

/* Entries are taken for 1.4 times the least of rows that are counted together, and are made to sum
   up to A's.  */
static inline void shunt_sorted_layer_count(struct shunt_sorted_layer *m,
                                            const struct shunt_sorted_counts *known)
{
  m->at_least[SHUNT_SORTED_COUNTS] = m->entries[SHUNT_SORTED_COUNTS] = 0;
  for (int i = SHUNT_SORTED_COUNTS - 1; i >= 0; i--) {
    m->at_least[i] = known->at_least[i];
    const double rows = m->at_least[i] - m->at_least[i + 1];
    m->entries[i] = m->entries[i + 1] + 1.4 * rows * (double)shunt_sorted_least(i);
  }
  const double all = m->entries[0] > 0 ? (double)m->nonzeros / m->entries[0] : 0;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) m->entries[i] *= all;
}

/* Are groups so wide no wider than C by half? */
static inline bool shunt_sorted_layer_has_groups(const struct shunt_sorted_layer *m, int lanes_log2)
{
  return 16 / m->size << lanes_log2 < 2 * m->n;
}

static inline int shunt_sorted_layer_team_log2(int lanes_log2)
{
  return lanes_log2 < 5 ? lanes_log2 + 1 : 5;
}

static inline double shunt_sorted_layer_slices(const struct shunt_sorted_layer *m, int lanes_log2)
{
  const int64_t width = 16 / m->size << lanes_log2;
  return (double)((m->n + width - 1) / width);
}

/* Of the counts below this one, the last that has rows. */
static inline int shunt_sorted_layer_last(const struct shunt_sorted_layer *m, int below)
{
  int i = below - 1;
  while (i > 0 && m->at_least[i] <= m->at_least[below]) i--;
  return i;
}

/* Entries of a row that is counted there, about. */
static inline double shunt_sorted_layer_length(int i)
{
  return 1.5 * (double)shunt_sorted_least(i);
}

static inline double shunt_sorted_layer_load(const struct shunt_sorted_layer *m)
{
  const double us = (double)(m->nonzeros * m->n * m->size) / 8.5e6;
  return us < 100 ? us / 100 : 1;
}

/* us of the rows that are not long: of the counts below `limit`. */
static inline double shunt_sorted_layer_rows_us(const struct shunt_sorted_layer *m, int limit,
                                                int lanes_log2)
{
  static const struct shunt_sorted_layer_line lines[] = {
      {2.49, 0.405, 4.97, 4.08, 5.32},
      {2.12, 0.399, 5.96, 3.34, 5.46},
      {2.15, 0.356, 9.76, 2.67, 4.53},
      {2.48, 0.353, 13.3, 2.27, 3.41},
  };
  const struct shunt_sorted_layer_line *l =
      &lines[lanes_log2 - SHUNT_SORTED_LAYER_LEAST_LANES_LOG2];
  const int team_log2 = shunt_sorted_layer_team_log2(lanes_log2);
  const int last = shunt_sorted_layer_last(m, limit);
  const int sharing = (last >= SHUNT_SORTED_LAYER_WIDE ? 5 : team_log2) - lanes_log2;
  const double slices = shunt_sorted_layer_slices(m, lanes_log2);
  const double wide = m->at_least[SHUNT_SORTED_LAYER_WIDE], teams = 32 >> team_log2;
  const double warps = wide - m->at_least[limit] + ((double)m->rows - wide) / teams;
  return l->start + 1e-3 * l->warp * warps * slices +
         1e-6 * l->entry * ((double)m->nonzeros - m->entries[limit]) * slices +
         1e-2 * (l->step + l->slow * shunt_sorted_layer_load(m)) * shunt_sorted_layer_length(last) /
             (1 << sharing);
}

/* us of the long ones; 8 warps a block. */
static inline double shunt_sorted_layer_long_us(const struct shunt_sorted_layer *m, int limit,
                                                int lanes_log2)
{
  static const struct shunt_sorted_layer_line lines[] = {
      {0.531, 2.8, 10.2, 0, 14.4},
      {0.211, 2.24, 19, 1.4, 5.38},
      {0, 1.18, 36.2, 2.25, 2.64},
  };
  const struct shunt_sorted_layer_line *l =
      &lines[lanes_log2 - SHUNT_SORTED_LAYER_LEAST_LONG_LANES_LOG2];
  if (m->at_least[limit] == 0) return 0;
  const double slices = shunt_sorted_layer_slices(m, lanes_log2);
  const int alone = shunt_sorted_layer_last(m, m->huge);
  const int last = shunt_sorted_layer_last(m, SHUNT_SORTED_COUNTS);
  const double one = alone >= limit ? shunt_sorted_layer_length(alone) / 8 : 0;
  const double shared = last >= m->huge ? shunt_sorted_layer_length(last) / (8 * m->cluster) : 0;
  return l->start + 1e-3 * l->warp * m->at_least[limit] * slices +
         1e-6 * l->entry * m->entries[limit] * slices +
         1e-2 * (l->step + l->slow * shunt_sorted_layer_load(m)) * (one > shared ? one : shared) /
             (1 << (5 - lanes_log2));
}

/* The width of groups from `least` on for which such rows are estimated to end first, and *us. */
static inline int
shunt_sorted_choose_layer_lanes(const struct shunt_sorted_layer *m, int limit, int least,
                                double (*us_of)(const struct shunt_sorted_layer *, int, int),
                                double *us)
{
  int best = least;
  *us = us_of(m, limit, least);
  for (int lanes_log2 = least + 1; lanes_log2 <= SHUNT_SORTED_LAYER_MOST_LANES_LOG2; lanes_log2++) {
    if (!shunt_sorted_layer_has_groups(m, lanes_log2)) break;
    const double taken = us_of(m, limit, lanes_log2);
    if (taken >= *us) continue;
    best = lanes_log2;
    *us = taken;
  }
  return best;
}

/* The cut that is estimated to end first, and *us. */
static inline struct shunt_sorted_layer_cut
shunt_sorted_choose_layer_cut(const struct shunt_sorted_layer *m, double *us)
{
  struct shunt_sorted_layer_cut best = {0, 0, 0}, at;
  double of_rows, of_longs;
  for (at.limit = SHUNT_SORTED_LAYER_LEAST_LIMIT; at.limit <= SHUNT_SORTED_LAYER_MOST_LIMIT;
       at.limit++) {
    at.lanes_log2 = shunt_sorted_choose_layer_lanes(
        m, at.limit, SHUNT_SORTED_LAYER_LEAST_LANES_LOG2, shunt_sorted_layer_rows_us, &of_rows);
    at.long_lanes_log2 =
        shunt_sorted_choose_layer_lanes(m, at.limit, SHUNT_SORTED_LAYER_LEAST_LONG_LANES_LOG2,
                                        shunt_sorted_layer_long_us, &of_longs);
    if (best.limit && of_rows + of_longs >= *us) continue;
    best = at;
    *us = of_rows + of_longs;
  }
  return best;
}

#endif
