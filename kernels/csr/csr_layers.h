/* csr_layers.h: layers, and how the split kernel cuts those whose rows somebody counted.

   Pruned layers have few zeros beside what is called scattered; their rows are few and long, and B
   is in L2.  A row has 8, 16 or 32 lanes of a warp, or 2, 4 or 8 warps of one block
   (csr_spmm_split_blocks.cuh), in groups of 2^lanes_log2 lanes, of which each has 16 bytes of a row
   of B; A is staged in shared memory or not (csr_spmm_split_walk_unstaged.cuh).  What that takes is
   estimated, a line for each kind of groups:

     us = start + (gather + uneven x (longest / mean - 1, 1 at most)) x (bytes of B's rows, MB) / 8
          + warp x (warps, thousands) + entry x (entries x slices of C, millions)
          + step x (entries of a group, of the longest row, hundreds)
          + round x (rounds of the device's warps, but the first) x (the same of a mean row)

   as all may wait for the longest row, and rows that differ are not at the same columns at the same
   time, so that L1 has less of what they gather.  The lines rest on 133 layers in f16, f32 and f64,
   8 to 512 columns, on an H200: they are 1.09 off for a layer that they were not fitted to, and
   what is chosen by them takes 1.03 of the best (tests/bench/csr.md).

   Many short rows have lines of their own, which rest on 16 layers (1.12, 1.01).  They have no
   blocks; but a lane may have two words of a row of B (csr_spmm_split_words.cuh): slices of C are
   half as many then, and whole, and 4 to 32 lanes have a row.  */
#ifndef SHUNT_CSR_LAYERS_H
#define SHUNT_CSR_LAYERS_H

#include "kernels/common/types.h"
#include "kernels/csr/csr_work.h"

/* Is one element in 64 stored, or more? */
static inline bool shunt_csr_is_layer(const struct shunt_csr *a)
{
  return (double)a->nnz >= (double)a->rows * (double)a->cols / 64;
}

/* Is it cut like one?  Others are whose rows are so few that one more warp for each gains. */
static inline bool shunt_csr_is_cut_as_layer(const struct shunt_csr *a)
{
  enum { FEW_ROWS = 1024, LEAST_MEAN = 16 };
  return shunt_csr_is_layer(a) || (a->rows <= FEW_ROWS && a->nnz >= LEAST_MEAN * a->rows);
}

/* Has a layer short rows, and so many that they are 20 warps a multiprocessor of an H200?  `loads`
   of 16 bytes a row of C, two of them a lane.  */
static inline bool shunt_layer_has_many_short_rows(int64_t rows, int64_t nonzeros, int64_t loads)
{
  enum { LEAST_WARPS = 2640, LOADS_OF_WARP = 64, MEAN = 48 };
  const int64_t least = (int64_t)LEAST_WARPS * LOADS_OF_WARP;
  return rows * loads >= least && nonzeros < MEAN * rows;
}

/* What a layer is cut for, and what is looked up of it once, as some thirty cuts are estimated. */
struct shunt_csr_layer {
  int64_t n;     /* columns of C */
  int load_log2; /* of its elements in 16 bytes */
  bool many;     /* has lines of many short rows: a single load a row has none */
  bool words;    /* lanes may have two */
  double rows, nonzeros, mean, longest;
  double gathered; /* bytes of B's rows, MB / 8 */
  double differ;   /* longest / mean - 1, 1 at most */
  double at_once;  /* 1 / warps that the device runs */
};

struct shunt_csr_layer_cut {
  int threads_log2; /* of a row: 3 to 5, 2 too of two words; or 6 to 8, a block; 0: no cut */
  int lanes_log2, words;
  bool unstaged;
};

struct shunt_csr_layer_line {
  double start, gather, warp, entry, step, round, uneven; /* start 0: no such line */
};

enum { SHUNT_CSR_LAYER_LANES = 6 /* lanes_log2 0 .. 5 */ };

static inline const struct shunt_csr_layer_line *
shunt_csr_layer_line(const struct shunt_csr_layer *m, const struct shunt_csr_layer_cut *cut)
{
  static const struct shunt_csr_layer_line lines[][SHUNT_CSR_LAYER_LANES] = {
      /* of a warp: A staged, and not */
      {{0, 0, 0, 0, 0, 0, 0},
       {1.98, 0, 0.306, 4.47, 5.62, 3.64, 0.0255},
       {1.96, 0.571, 0.278, 0.0714, 3.63, 2.7, 0.0382},
       {1.99, 0.395, 0.238, 0.0247, 2.7, 3.09, 0.0545},
       {1.85, 0.313, 0.161, 0.00977, 2.91, 4.59, 0.0601},
       {1.7, 0.235, 0.0987, 0.00367, 2.79, 5.89, 0.104}},
      {{1.92, 0.861, 0.232, 0.43, 10.2, 14.9, 0},
       {1.86, 0.603, 0.207, 0.151, 9.36, 16, 0.0389},
       {1.72, 0.29, 0.219, 0.0362, 9.61, 14.7, 0},
       {1.69, 0.247, 0.202, 0.0154, 8.6, 12.2, 0.028}},
      /* blocks */
      {{0, 0, 0, 0, 0, 0, 0},
       {2.09, 0.341, 0.32, 4.07, 6.35, 0, 0.00249},
       {1.92, 0.694, 0.317, 0.0868, 4.33, 0, 0},
       {1.86, 0.477, 0.277, 0.0298, 3.46, 1.93, 0.00119},
       {1.97, 0.439, 0.153, 0.0137, 3.34, 3.63, 0.025}},
      {{1.98, 1.19, 0.245, 0.595, 7.74, 3.76, 0},
       {1.88, 0.934, 0.223, 0.233, 7.39, 1.25, 0},
       {1.8, 0.434, 0.219, 0.0542, 7.91, 7, 0},
       {1.72, 0.29, 0.179, 0.0181, 8.08, 9.43, 0}},
  };
  /* Of many short rows: the same of a warp, none of blocks, and by two words. */
  static const struct shunt_csr_layer_line many[][SHUNT_CSR_LAYER_LANES] = {
      {{0, 0, 0, 0, 0, 0, 0},
       {0, 0, 0, 0, 0, 0, 0},
       {1.56, 0.145, 0.357, 0.0181, 4.62, 1.99, 0.498},
       {2.86, 0, 0.34, 0, 2.46, 0.0821, 0.519},
       {2.63, 0.175, 0.349, 0.00547, 1.99, 0, 0.235},
       {1.26, 0.345, 0.343, 0.0054, 3.16, 0, 0}},
      {{0, 0, 0, 0, 0, 0, 0},
       {0.992, 0, 0.254, 0, 13, 29.6, 0},
       {0.562, 0.532, 0.269, 0.0665, 10.8, 2.35, 0.0822},
       {2.14, 0, 0.232, 0, 7.75, 6.53, 0.433}},
      {{0, 0, 0, 0, 0, 0, 0}},
      {{0, 0, 0, 0, 0, 0, 0}},
      {{0, 0, 0, 0, 0, 0, 0},
       {0, 0, 0, 0, 0, 0, 0},
       {2.5, 0.111, 0.296, 0.00695, 11.4, 10, 0.405},
       {1.49, 0.169, 0.306, 0.00527, 9.04, 0, 0.345},
       {0.358, 0.39, 0.265, 0.00609, 7.84, 0, 0.0569},
       {0.823, 0.227, 0.239, 0.00178, 5.78, 4.29, 0.119}},
  };
  const int one = 2 * (cut->threads_log2 > 5) + cut->unstaged;
  return m->many ? &many[cut->words == 2 ? 4 : one][cut->lanes_log2] : &lines[one][cut->lanes_log2];
}

/* The logarithm of the columns that a group has: 16 bytes a lane, or 32. */
static inline int shunt_csr_layer_width_log2(const struct shunt_csr_layer *m,
                                             const struct shunt_csr_layer_cut *cut)
{
  return cut->lanes_log2 + cut->words - 1 + m->load_log2;
}

/* us, by the line that there must be. */
static inline double shunt_csr_layer_us(const struct shunt_csr_layer *m,
                                        const struct shunt_csr_layer_cut *cut)
{
  static const double half[] = {1,       0.5,      0.25,      0.125,     0.0625,
                                0.03125, 0.015625, 0.0078125, 0.00390625};
  const struct shunt_csr_layer_line *l = shunt_csr_layer_line(m, cut);
  const int width_log2 = shunt_csr_layer_width_log2(m, cut);
  const double slices = (double)((m->n + (1 << width_log2) - 1) >> width_log2);
  const double group = half[cut->threads_log2 - cut->lanes_log2];
  const double warps = m->rows * slices * (double)(1 << cut->threads_log2) * (1.0 / 32);
  const double more = warps * m->at_once - 1;
  return l->start + (l->gather + l->uneven * m->differ) * m->gathered + 1e-3 * l->warp * warps +
         1e-6 * l->entry * m->nonzeros * slices +
         1e-2 * (l->step * m->longest + l->round * (more > 0 ? more : 0) * m->mean) * group;
}

/* Looks up what cuts have in common.  False: there are no lines for it.  B is read 16 bytes at a
   time, and entries are not so many that a row may be longer than a team takes.  */
static inline bool shunt_csr_layer_of(const struct shunt_csr_work *w, struct shunt_csr_layer *m)
{
  enum { WARPS = 32 /* that a multiprocessor runs at once */ };
  const int64_t bytes = w->n * w->size;
  if (w->rows <= 0 || w->nonzeros <= 0 || w->nonzeros >= SHUNT_CSR_MOST_LIMIT || w->longest < 0 ||
      w->size < 2 || w->size > 8 || w->n <= 0 || bytes % 16 || w->multiprocessors <= 0)
    return false;
  m->n = w->n;
  m->load_log2 = w->size == 2 ? 3 : w->size == 4 ? 2 : 1;
  m->many = bytes > 16 && shunt_layer_has_many_short_rows(w->rows, w->nonzeros, bytes / 16);
  m->words = w->words;
  m->rows = (double)w->rows, m->nonzeros = (double)w->nonzeros, m->longest = (double)w->longest;
  m->mean = m->nonzeros / m->rows;
  m->gathered = 1e-6 / 8 * m->nonzeros * (double)bytes;
  m->differ = m->longest < 2 * m->mean ? m->longest / m->mean - 1 : 1;
  m->at_once = 1.0 / (WARPS * w->multiprocessors);
  return true;
}

/* Were groups like these timed for so many columns?  They are not wider than C by half, and C has
   16 slices at most, 4 where A is not staged.  */
static inline bool shunt_csr_layer_has_groups(const struct shunt_csr_layer *m,
                                              const struct shunt_csr_layer_cut *cut)
{
  const int64_t width = (int64_t)1 << shunt_csr_layer_width_log2(m, cut);
  const int least = cut->unstaged ? 0 : 1;
  return (width < 2 * m->n || cut->lanes_log2 <= least) && width * (cut->unstaged ? 4 : 16) >= m->n;
}

/* And so many threads for rows of so many entries? */
static inline bool shunt_csr_layer_has_threads(const struct shunt_csr_layer *m,
                                               const struct shunt_csr_layer_cut *cut)
{
  if (shunt_csr_layer_line(m, cut)->start == 0 || cut->threads_log2 < cut->lanes_log2) return false;
  if (cut->threads_log2 < 5) return m->mean <= 64;
  return cut->threads_log2 == 5 ||
         4 * m->mean >= (double)(1 << cut->threads_log2) * (cut->unstaged ? 1 : 2);
}

struct shunt_csr_layer_choice {
  struct shunt_csr_layer_cut cut; /* of no threads where none was timed */
  double us;
};

static inline void shunt_csr_keep_better(struct shunt_csr_layer_choice *best,
                                         const struct shunt_csr_layer *m,
                                         const struct shunt_csr_layer_cut *at)
{
  const double us = shunt_csr_layer_us(m, at);
  if (best->cut.threads_log2 && us >= best->us) return;
  best->cut = *at;
  best->us = us;
}

/* One word a lane. */
static inline void shunt_csr_choose_layer_word(const struct shunt_csr_layer *m,
                                               struct shunt_csr_layer_choice *best)
{
  enum { LEAST = 3, MOST = 8 };
  struct shunt_csr_layer_cut at = {0, 0, 1, false};
  for (int unstaged = 0; unstaged < 2; unstaged++)
    for (at.lanes_log2 = 0; at.lanes_log2 < SHUNT_CSR_LAYER_LANES; at.lanes_log2++) {
      at.unstaged = unstaged != 0;
      if (!shunt_csr_layer_has_groups(m, &at)) continue;
      for (at.threads_log2 = LEAST; at.threads_log2 <= MOST; at.threads_log2++)
        if (shunt_csr_layer_has_threads(m, &at)) shunt_csr_keep_better(best, m, &at);
    }
}

/* Two words, of many short rows. */
static inline void shunt_csr_choose_layer_words(const struct shunt_csr_layer *m,
                                                struct shunt_csr_layer_choice *best)
{
  enum { LEAST_LANES_LOG2 = 2, LEAST_LOADS = 8, MOST = 5 };
  const int64_t loads = m->n >> m->load_log2;
  if (!m->words || loads < LEAST_LOADS || !m->many) return;
  struct shunt_csr_layer_cut at = {0, 0, 2, false};
  for (at.lanes_log2 = LEAST_LANES_LOG2; at.lanes_log2 < SHUNT_CSR_LAYER_LANES; at.lanes_log2++) {
    if (loads % (2 << at.lanes_log2)) break;
    for (at.threads_log2 = at.lanes_log2; at.threads_log2 <= MOST; at.threads_log2++)
      shunt_csr_keep_better(best, m, &at);
  }
}

/* The cut that is estimated to end first, and *us; of no threads where none was timed. */
static inline struct shunt_csr_layer_cut shunt_csr_choose_layer_cut(const struct shunt_csr_layer *m,
                                                                    double *us)
{
  struct shunt_csr_layer_choice best = {{0, 0, 1, false}, 0};
  shunt_csr_choose_layer_word(m, &best);
  shunt_csr_choose_layer_words(m, &best);
  *us = best.us;
  return best.cut;
}

#endif
