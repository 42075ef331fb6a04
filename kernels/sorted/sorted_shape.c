/* sorted_shape.c: how a product is cut, by the lengths of A's rows (sorted_kernels.h).  Launches
   ask, and estimates: so it needs no CUDA.

   V: elements of a row of B that a lane loads at once.  */
#include "kernels/csr/csr_layers.h"
#include "kernels/sorted/sorted_kernels.h"
#include "kernels/sorted/sorted_layers.h"

/* Warps of a multiprocessor, if each row has but its lanes. */
static int64_t warps_of(const struct shunt_spmm *p, int V, int lanes_log2,
                        const struct shunt_device *d)
{
  const int64_t lanes = p->a.rows * shunt_sorted_slices(p->b.cols, V, lanes_log2) << lanes_log2;
  return lanes / 32 / d->multiprocessors;
}

/* The least limit from `least` on that no more than `most` rows reach; 0: there is none. */
static int first_limit(const struct shunt_sorted_counts *known, int64_t least, int64_t last,
                       int64_t most)
{
  for (int i = 0; i < SHUNT_SORTED_COUNTS; i++) {
    const int64_t length = shunt_sorted_least(i);
    if (length >= least && length <= last && known->at_least[i] <= most) return (int)length;
  }
  return 0;
}

/* Rows of C: groups as wide as C, 16 lanes at most; where warps are few, half of that. Rows of B
   in flight: 8 where warps are few. */
static void choose_rows(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                        const struct shunt_device *d)
{
  const int64_t n = p->b.cols;
  s->lanes_log2 = 1;
  while (s->lanes_log2 < 4 && V << s->lanes_log2 < n) s->lanes_log2++;
  const bool narrower = s->lanes_log2 == 4 && n <= V << 4 && warps_of(p, V, 4, d) < 64;
  if (narrower) s->lanes_log2 = 3;
  const int64_t mean = p->a.nnz / p->a.rows;
  const bool many = p->a.rows * shunt_sorted_slices(n, V, 5) >= 100 * d->multiprocessors && V < 8;
  if (many && mean >= 24 && n > V << 4) s->lanes_log2 = 5;
  s->team_log2 =
      s->lanes_log2 < SHUNT_SORTED_LEAST_TEAM_LOG2 ? SHUNT_SORTED_LEAST_TEAM_LOG2 : s->lanes_log2;
  const int64_t few = narrower ? 32 : s->lanes_log2 <= 2 ? 16 : 8 << s->lanes_log2;
  s->chunk = warps_of(p, V, s->lanes_log2, d) < few ? 8 : 4;
  if (many && mean >= 48 && s->lanes_log2 >= 4) s->chunk = 8;
  s->wide = s->lanes_log2 == 2 ? 32 : 64;
}

/* Wide C of many rows that are neither short nor long: two words a lane, in narrow groups where
   rows are more than a few hundred a multiprocessor. */
static bool choose_words(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                         const struct shunt_device *d)
{
  enum { LEAST_BYTES = 256, LEAST_MEAN = 8, MEAN_OF_LONG = 24, WARPS = 80, MANY_ROWS = 256 };
  const int64_t n = p->b.cols, rows = p->a.rows;
  const int lanes_log2 = rows >= MANY_ROWS * d->multiprocessors || n % (2 * V << 4) ? 3 : 4;
  if (n * 16 / V < LEAST_BYTES || n % (2 * V << lanes_log2) || p->a.nnz < LEAST_MEAN * rows ||
      p->a.nnz >= MEAN_OF_LONG * rows || rows * n / (2 * V) / 32 < WARPS * d->multiprocessors)
    return false;
  s->words = 2, s->chunk = 4;
  s->lanes_log2 = s->team_log2 = lanes_log2;
  s->wide = 64;
  return true;
}

/* Of scattered matrices also where rows are fewer or shorter, if not nearly all have less than 8
   entries: the others have a warp each, from 16 or 32 entries on.  And where a row of C has 128
   bytes, which 4 lanes have.  */
static bool choose_words_of_few(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                                const struct shunt_sorted_counts *known,
                                const struct shunt_device *d)
{
  enum { MOST_ROWS = 512, FEW_ROWS = 32, LEAST_ROWS = 20 /* of a multiprocessor */ };
  enum { LEAST_LOADS = 8, MEAN_OF_NARROW = 9, MEAN = 13, MOST_SHORT = 93 /* % */ };
  const int64_t n = p->b.cols, rows = p->a.rows, each = d->multiprocessors;
  const bool narrow = n == LEAST_LOADS * V;
  if (known->at_least[0] == 0 || rows > MOST_ROWS * each) return false;
  if (p->a.nnz >= (narrow ? MEAN_OF_NARROW : MEAN) * rows) return false;
  if (!narrow && (n % (2 * V << 3) || rows < LEAST_ROWS * each ||
                  100 * (rows - known->at_least[2]) > MOST_SHORT * rows))
    return false;
  s->words = 2, s->chunk = 4;
  s->lanes_log2 = s->team_log2 = narrow ? 2 : 3;
  s->wide = narrow || rows < FEW_ROWS * each ? 16 : 32;
  return true;
}

/* us that the longest rows which are not long keep a warp, at 1.15 a step of all its groups. */
static double last_row_us(const struct shunt_sorted_shape *s, int64_t rows,
                          const struct shunt_sorted_counts *known)
{
  const int64_t longs = shunt_sorted_rows_of(known, s->limit, rows);
  int i = SHUNT_SORTED_COUNTS - 1;
  while (i > 0 && (shunt_sorted_least(i) >= s->limit || known->at_least[i] <= longs)) i--;
  const int64_t most = 2 * shunt_sorted_least(i),
                step = SHUNT_SORTED_UNSTAGED_CHUNK << (5 - s->lanes_log2);
  return 1.15 * (double)most / (double)step;
}

/* C of at most 4 loads a row: A is not staged, but for 4 if a warp's row would end last. Shares
   are such that as many warps are made as run at once, nearly. */
static bool choose_unstaged(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                            const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  enum { MOST_LANES = 4, WARPS = 28 };
  const int64_t n = p->b.cols;
  if (n > MOST_LANES * V) return false;
  const double gathered = shunt_sorted_gathered_us(p->a.nnz, n, 16 / V);
  s->lanes_log2 = n <= V ? 0 : n <= 2 * V ? 1 : 2;
  if (s->lanes_log2 == 2 && last_row_us(s, p->a.rows, known) > gathered + 6) return false;
  const int64_t each = p->a.nnz << s->lanes_log2, most = s->lanes_log2 == 2 ? 32 : 16;
  s->team_log2 = SHUNT_SORTED_LEAST_TEAM_LOG2, s->chunk = 4;
  s->share = s->lanes_log2 ? 8 : 4;
  /* Up to the power of 2 that is nearest by its logarithm: 10 / 7 is about the root of 2. */
  while (s->share < most && 7 * each > 10 * (int64_t)s->share * 32 * WARPS * d->multiprocessors)
    s->share *= 2;
  return true;
}

/* Warps that take the rows of fewer than 8 entries as lists, of a multiprocessor. */
static int64_t list_warps(const struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                          const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  const int64_t four = known->at_least[1], eight = known->at_least[2];
  const int64_t slices = shunt_sorted_slices(p->b.cols, V, s->lanes_log2);
  return (((p->a.rows - four) << s->spread) / 32 + ((four - eight) << s->spread) / 16) * slices /
         d->multiprocessors;
}

/* Short rows in lists: where most rows are, and either their warps are as many as run at once,
   or what others do takes longer than the last lists. Of fewer rows than that a team has 8 at a
   time, where most of the device has a list then. */
static void choose_brief(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                         const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  const int64_t some = known->at_least[0], four = known->at_least[1], eight = known->at_least[2];
  const int64_t entries = 2 * (some - four) + 11 * (four - eight) / 2; // of short rows, about
  if (some == 0 || s->lanes_log2 < 3 || 2 * (p->a.rows - eight) < p->a.rows) return;
  s->spread = s->lanes_log2 - 3;
  const int64_t most = list_warps(s, p, V, known, d);
  const bool at_once = 5 * (p->a.rows - eight) >= 3 * p->a.rows && most >= 12 && most <= 60;
  if (!at_once) s->spread = 0;
  const int64_t warps = list_warps(s, p, V, known, d);
  const bool beside = s->lanes_log2 == 4 && warps >= 12 && 5 * entries < 2 * p->a.nnz;
  if (!at_once && !beside && warps < 26) return;
  s->chunk = 4;
  s->brief = !at_once && s->lanes_log2 == 4 && warps >= 40 ? 16 : 8;
}

/* Long rows: as many as there are blocks for at once. A row that would end last by itself has
   more blocks, by narrower slices, too. */
static void choose_longs(struct shunt_sorted_shape *s, const struct shunt_spmm *p, int V,
                         const struct shunt_sorted_counts *known, const struct shunt_device *d)
{
  enum { LONGEST = 16384 };
  const int64_t n = p->b.cols, blocks = d->multiprocessors;
  const bool alone =
      known->at_least[SHUNT_SORTED_COUNTS - 1] > 0 && p->a.nnz < 4 * LONGEST * blocks;
  s->long_lanes_log2 = n <= V << 1 ? 1 : n <= V << 2 ? 2 : 3;
  if (alone) s->long_lanes_log2 = n <= V << 5 ? 1 : 2;
  s->limit = first_limit(known, alone ? 512 : n <= V << 1 ? 256 : 128, 1024, 3 * blocks / 2);
  if (!s->limit) s->limit = 1024;
  s->huge = first_limit(known, 2048, 4096, blocks / 4);
  s->cluster = alone ? 8 : 4;
}

/* The place of a limit among the counts; behind all of them for 0. */
static int place_of(int limit)
{
  return limit ? shunt_sorted_count_of(limit) : SHUNT_SORTED_COUNTS;
}

/* Of a layer, by lines (sorted_layers.h). */
static bool choose_layer(struct shunt_sorted_shape *s, const struct shunt_spmm *p,
                         const struct shunt_sorted_counts *known, double *us)
{
  if (!shunt_sorted_layer_has_lines(known)) return false;
  struct shunt_sorted_layer m = {.rows = p->a.rows,
                                 .nonzeros = p->a.nnz,
                                 .n = p->b.cols,
                                 .size = (int64_t)shunt_type_size(p->b.type),
                                 .huge = place_of(s->huge),
                                 .cluster = s->cluster};
  shunt_sorted_layer_count(&m, known);
  const struct shunt_sorted_layer_cut cut = shunt_sorted_choose_layer_cut(&m, us);
  s->lanes_log2 = cut.lanes_log2;
  s->long_lanes_log2 = cut.long_lanes_log2;
  s->limit = (int)shunt_sorted_least(cut.limit);
  s->share = cut.share;
  s->words = cut.words;
  s->chunk = cut.share || cut.words > 1 ? 4 : 8;
  s->team_log2 = cut.team_log2;
  s->wide = cut.share ? 0 : (int)shunt_sorted_least(SHUNT_SORTED_LAYER_WIDE);
  return true;
}

/* The shape; *us: what the lines say that a layer takes which was cut by them, else 0. */
static struct shunt_sorted_shape choose(const struct shunt_spmm *p,
                                        const struct shunt_sorted_counts *known,
                                        const struct shunt_device *d, double *us)
{
  const int V = 16 / (int)shunt_type_size(p->b.type);
  struct shunt_sorted_shape s = {.words = 1};
  *us = 0;
  choose_longs(&s, p, V, known, d);
  const bool layer = shunt_csr_is_layer(&p->a);
  if (layer && choose_layer(&s, p, known, us)) return s;
  if (choose_words(&s, p, V, d) || (!layer && choose_words_of_few(&s, p, V, known, d))) return s;
  if (choose_unstaged(&s, p, V, known, d)) return s;
  choose_rows(&s, p, V, d);
  choose_brief(&s, p, V, known, d);
  return s;
}

struct shunt_sorted_shape shunt_sorted_spmm_shape(const struct shunt_spmm *p,
                                                  const struct shunt_sorted_counts *known,
                                                  const struct shunt_device *d)
{
  double us;
  return choose(p, known, d, &us);
}

double shunt_sorted_spmm_us(const struct shunt_spmm *p, const struct shunt_sorted_counts *known,
                            const struct shunt_device *d)
{
  double us;
  choose(p, known, d, &us);
  return us;
}
