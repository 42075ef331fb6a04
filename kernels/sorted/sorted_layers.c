/* sorted_layers.c: the lines of layers, and the cut by them (sorted_layers.h). */
#include "kernels/sorted/sorted_layers.h"

#include <math.h>

#include "kernels/csr/csr_layers.h"
#include "kernels/sorted/sorted_kernels.h"

enum {
  LOAD_BYTES = 16,
  NARROW_LOADS = 4, /* of a row of C, at most */
  BLOCK_WARPS = 8   /* of a long row */
};

/* fmax() and fmin() are calls, as they look for NaN. */
static double larger(double a, double b)
{
  return a > b ? a : b;
}
static double smaller(double a, double b)
{
  return a < b ? a : b;
}

static bool is_narrow(const struct shunt_sorted_layer *m)
{
  return m->n * m->size <= NARROW_LOADS * LOAD_BYTES;
}

bool shunt_sorted_layer_has_lines(const struct shunt_sorted_counts *known)
{
  return known->at_least[0] > 0 && known->at_least[SHUNT_SORTED_COUNTS - 1] == 0;
}

/* ---- what is looked up once ------------------------------------------------------------------ */

/* Entries are taken for 1.4 times the least of rows that are counted together, and are made to sum
   up to A's.  */
static void count_entries(struct shunt_sorted_layer *m)
{
  m->entries[SHUNT_SORTED_COUNTS] = 0;
  for (int i = SHUNT_SORTED_COUNTS - 1; i >= 0; i--) {
    const double rows = m->at_least[i] - m->at_least[i + 1];
    m->entries[i] = m->entries[i + 1] + 1.4 * rows * (double)shunt_sorted_least(i);
  }
  const double all = m->entries[0] > 0 ? (double)m->nonzeros / m->entries[0] : 0;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) m->entries[i] *= all;
}

void shunt_sorted_layer_count(struct shunt_sorted_layer *m, const struct shunt_sorted_counts *known)
{
  m->at_least[SHUNT_SORTED_COUNTS] = 0;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) m->at_least[i] = known->at_least[i];
  count_entries(m);
  m->longest[0] = 1.5;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++)
    m->longest[i + 1] =
        m->at_least[i] > m->at_least[i + 1] ? 1.5 * (double)shunt_sorted_least(i) : m->longest[i];
  m->powers[0] = 0;
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++)
    m->powers[i + 1] = m->powers[i] + m->at_least[i] * (1 << i);
  for (int words_log2 = 0; words_log2 <= SHUNT_SORTED_LAYER_MOST_LANES_LOG2 + 1; words_log2++)
    m->slices[words_log2] =
        (double)shunt_sorted_slices(m->n, LOAD_BYTES / (int)m->size, words_log2);
  m->load = smaller(shunt_sorted_gathered_us(m->nonzeros, m->n, m->size) / 100, 1);
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct line {
  double start, warp, entry, step, slow; /* warp: of long rows a block */
};

/* By the lanes of a group, from 4 on; and of long rows, from 8 on. */
static const struct line wide_rows[] = {
    {2.32, 0.39, 5.15, 4.36, 4.03},
    {2.07, 0.381, 6.16, 3.4, 5.07},
    {2.1, 0.347, 9.91, 2.69, 4.46},
    {2.29, 0.379, 13.3, 2.37, 3.27},
};
static const struct line wide_longs[] = {
    {0.579, 2.79, 10.3, 0, 13.8},
    {0.223, 2.24, 19.2, 1.47, 4.98},
    {0, 1.19, 36.6, 2.29, 2.45},
};

/* The same of many short rows, and of these by two words, from 4 lanes on. */
static const struct line many_rows[] = {
    {3.3, 0.346, 5.43, 1.05, 0},
    {2.57, 0.414, 5.29, 1.62, 4.68},
    {1.94, 0.415, 10.1, 1.38, 0.403},
    {1.31, 0.39, 19.8, 1.79, 0},
};
static const struct line two_words[] = {
    {5.43, 0.292, 10.7, 0, 0},
    {3.57, 0.374, 13.8, 2.52, 0},
    {1.96, 0.408, 23.6, 3.68, 0},
    {1.19, 0.437, 42.1, 4.02, 0},
};
static const struct line many_longs[] = {
    {0.401, 3.75, 6.4, 0.806, 14.6},
    {0.616, 3.07, 17.3, 0.478, 7.69},
    {0.562, 4.48, 13.9, 1.48, 5.16},
};

/* The same of narrow C, from 1 lane on, and from 2 on; and of 4 lanes, A staged. */
static const struct line narrow_rows[] = {
    {2.33, 0.319, 1.07, 10.8, 90},
    {2.19, 0.252, 1.88, 9.36, 34.4},
    {2.27, 0.125, 2, 8.29, 28.1},
};
static const struct line narrow_staged = {2.52, 0.297, 3.19, 4.11, 19};
static const struct line narrow_longs[] = {
    {0.518, 2.7, 5.62, 0, 76.1},
    {0.554, 2.66, 5.82, 0, 55.1},
    {0.563, 2.49, 8.46, 0.241, 32.8},
};

/* The logarithms of the least lanes that there are lines for. */
enum { WIDE_ROWS_LANES = 2, WIDE_LONGS_LANES = 3, NARROW_LONGS_LANES = 1 };

/* But for the start. */
static double line_us(const struct line *l, const struct shunt_sorted_layer *m, double warps,
                      double entries, double slices, double steps)
{
  return (1e-3 * l->warp * warps + 1e-6 * l->entry * entries) * slices +
         1e-2 * (l->step + l->slow * m->load) * steps;
}

static bool some_are_short(const struct shunt_sorted_layer *m, int limit)
{
  return m->at_least[limit] < (double)m->rows;
}

/* Rows by teams, or by warps. */
static double staged_us(const struct line *l, const struct shunt_sorted_layer *m,
                        const struct shunt_sorted_layer_cut *c)
{
  const double longest = m->longest[c->limit], longs = m->at_least[c->limit];
  const double wide = larger(m->at_least[SHUNT_SORTED_LAYER_WIDE], longs);
  const double warps = wide - longs + ((double)m->rows - wide) * (1 << c->team_log2) / 32;
  const bool by_warps = longest >= (double)shunt_sorted_least(SHUNT_SORTED_LAYER_WIDE);
  const double steps = by_warps ? longest * (1 << c->lanes_log2) / 32
                                : longest / (1 << (c->team_log2 - c->lanes_log2));
  return line_us(l, m, warps, (double)m->nonzeros - m->entries[c->limit],
                 m->slices[c->lanes_log2 + c->words - 1], steps);
}

/* Rows by shares: 2^k groups from 2^(k - 1) shares on, as many as a warp has at most.  So one group
   each, and 2^k more for the rows of 2^k shares and more.  */
static double unstaged_us(const struct line *l, const struct shunt_sorted_layer *m,
                          const struct shunt_sorted_layer_cut *c)
{
  const int one = shunt_sorted_count_of(c->share), all = one + 5 - c->lanes_log2;
  const int end = c->limit < all ? c->limit : all;
  const double longest = m->longest[c->limit], longs = m->at_least[c->limit];
  const double more = (m->powers[end] - m->powers[one]) / (1 << one) - longs * (1 << (end - one));
  const double steps =
      larger(longest * (1 << c->lanes_log2) / 32, smaller(longest, (double)c->share));
  return line_us(l, m, ((double)m->rows + more) * (1 << c->lanes_log2) / 32,
                 (double)m->nonzeros - m->entries[c->limit], m->slices[c->lanes_log2], steps);
}

static bool are_many(const struct shunt_sorted_layer *m)
{
  return shunt_layer_has_many_short_rows(m->rows, m->nonzeros, m->n * m->size / LOAD_BYTES);
}

static const struct line *line_of_rows(const struct shunt_sorted_layer *m,
                                       const struct shunt_sorted_layer_cut *c)
{
  if (c->share) return &narrow_rows[c->lanes_log2];
  if (is_narrow(m)) return &narrow_staged;
  const struct line *lines = c->words > 1 ? two_words : are_many(m) ? many_rows : wide_rows;
  return &lines[c->lanes_log2 - WIDE_ROWS_LANES];
}

/* us of the rows that are not long. */
static double rows_us(const struct shunt_sorted_layer *m, const struct shunt_sorted_layer_cut *c)
{
  const struct line *l = line_of_rows(m, c);
  if (!some_are_short(m, c->limit)) return l->start;
  return l->start + (c->share ? unstaged_us(l, m, c) : staged_us(l, m, c));
}

/* us of the long ones; `huge` ones have more blocks. */
static double longs_us(const struct shunt_sorted_layer *m, const struct shunt_sorted_layer_cut *c)
{
  const int lanes_log2 = c->long_lanes_log2;
  const struct line *l = is_narrow(m)  ? &narrow_longs[lanes_log2 - NARROW_LONGS_LANES]
                         : are_many(m) ? &many_longs[lanes_log2 - WIDE_LONGS_LANES]
                                       : &wide_longs[lanes_log2 - WIDE_LONGS_LANES];
  if (m->at_least[c->limit] == 0) return 0;
  const double single = m->longest[m->huge], joint = m->longest[SHUNT_SORTED_COUNTS];
  const double one = single >= (double)shunt_sorted_least(c->limit) ? single : 0;
  const double shared = m->at_least[m->huge] > 0 ? joint / m->cluster : 0;
  const double steps = larger(one, shared) * (1 << lanes_log2) / (32 * BLOCK_WARPS);
  const bool alone = is_narrow(m) && !some_are_short(m, c->limit);
  return (alone ? 0 : l->start) +
         line_us(l, m, m->at_least[c->limit], m->entries[c->limit], m->slices[lanes_log2], steps);
}

double shunt_sorted_layer_us(const struct shunt_sorted_layer *m,
                             const struct shunt_sorted_layer_cut *c)
{
  return rows_us(m, c) + longs_us(m, c);
}

/* ---- the cut --------------------------------------------------------------------------------- */

/* The logarithm of the lanes that have a row of narrow C. */
static int narrow_lanes(const struct shunt_sorted_layer *m)
{
  const int64_t loads = m->n * m->size / LOAD_BYTES;
  return loads > 2 ? 2 : loads > 1;
}

/* Of wide C, the widest groups from `least` on that are no wider than C by half. */
static int widest(const struct shunt_sorted_layer *m, int least)
{
  int lanes_log2 = least;
  while (lanes_log2 < SHUNT_SORTED_LAYER_MOST_LANES_LOG2 &&
         LOAD_BYTES / m->size << (lanes_log2 + 1) < 2 * m->n)
    lanes_log2++;
  return lanes_log2;
}

struct choice {
  struct shunt_sorted_layer_cut cut;
  double us;
};

static void keep_better(struct choice *best, const struct shunt_sorted_layer_cut *c, double us)
{
  if (us < best->us) *best = (struct choice){*c, us};
}

/* Two words a lane. */
static void choose_words(const struct shunt_sorted_layer *m, struct shunt_sorted_layer_cut at,
                         struct choice *best)
{
  const int64_t loads = m->n * m->size / LOAD_BYTES;
  at.words = 2, at.share = 0;
  for (at.lanes_log2 = WIDE_ROWS_LANES; at.lanes_log2 <= SHUNT_SORTED_LAYER_MOST_LANES_LOG2;
       at.lanes_log2++) {
    if (loads % (2 << at.lanes_log2)) break;
    for (at.team_log2 = at.lanes_log2; at.team_log2 <= at.lanes_log2 + 1 && at.team_log2 <= 5;
         at.team_log2++)
      keep_better(best, &at, rows_us(m, &at));
  }
}

/* Where A is not staged. */
static void choose_share(const struct shunt_sorted_layer *m, struct shunt_sorted_layer_cut at,
                         struct choice *best)
{
  enum { LEAST_SHARE = 4, MOST_SHARE = 32 };
  const int lanes = narrow_lanes(m);
  at.words = 1, at.team_log2 = SHUNT_SORTED_LEAST_TEAM_LOG2;
  for (at.lanes_log2 = lanes > 0 ? lanes - 1 : 0; at.lanes_log2 <= lanes; at.lanes_log2++)
    for (at.share = LEAST_SHARE; at.share <= MOST_SHARE; at.share *= 2)
      keep_better(best, &at, rows_us(m, &at));
}

/* By how rows that are not long are cut. */
static struct choice choose_rows(const struct shunt_sorted_layer *m,
                                 struct shunt_sorted_layer_cut at)
{
  const bool narrow = is_narrow(m);
  const int lanes = narrow ? narrow_lanes(m) : widest(m, WIDE_ROWS_LANES);
  struct choice best = {at, INFINITY};
  at.words = 1, at.share = 0;
  for (at.lanes_log2 = WIDE_ROWS_LANES; at.lanes_log2 <= lanes; at.lanes_log2++) {
    at.team_log2 = at.lanes_log2 < 5 ? at.lanes_log2 + 1 : 5;
    keep_better(&best, &at, rows_us(m, &at));
  }
  if (narrow)
    choose_share(m, at, &best);
  else if (are_many(m))
    choose_words(m, at, &best);
  return best;
}

/* By the groups of long ones. */
static struct choice choose_longs(const struct shunt_sorted_layer *m,
                                  struct shunt_sorted_layer_cut at)
{
  const bool narrow = is_narrow(m);
  const int narrowest = narrow_lanes(m) > 1 ? 2 : 1;
  const int least = narrow ? narrowest : WIDE_LONGS_LANES;
  const int most = narrow ? narrowest + 1 : widest(m, least);
  struct choice best = {at, INFINITY};
  for (at.long_lanes_log2 = least; at.long_lanes_log2 <= most; at.long_lanes_log2++)
    keep_better(&best, &at, longs_us(m, &at));
  return best;
}

struct shunt_sorted_layer_cut shunt_sorted_choose_layer_cut(const struct shunt_sorted_layer *m,
                                                            double *us)
{
  struct shunt_sorted_layer_cut at = {0};
  struct choice best = {at, INFINITY};
  for (at.limit = SHUNT_SORTED_LAYER_LEAST_LIMIT; at.limit <= SHUNT_SORTED_LAYER_MOST_LIMIT;
       at.limit++) {
    if (best.us < INFINITY && m->at_least[at.limit] == m->at_least[at.limit - 1]) continue;
    const struct choice longs = choose_longs(m, at);
    const struct choice rows = choose_rows(m, longs.cut);
    keep_better(&best, &rows.cut, rows.us + longs.us);
  }
  *us = best.us;
  return best.cut;
}
