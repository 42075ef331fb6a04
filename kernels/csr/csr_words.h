/* csr_words.h: where the split kernel's lanes have two words of a row of B each
   (kernels/csr/split/csr_spmm_split_words.cuh), and in what groups; estimates ask, too.

   C has half as many slices then, so that A is read and looked up half as often.  Sums and rows of
   B leave no registers for helping a longer row, nor for as many of its entries at once: so it is
   for wide C, and rows that are neither short nor end long after others.  Where C has 128 bytes a
   row, a warp has eight rows at a time instead of four: for many short ones.  The numbers were
   chosen by measurement (tests/bench/csr.md).  */
#ifndef SHUNT_CSR_WORDS_H
#define SHUNT_CSR_WORDS_H

#include "kernels/csr/csr_work.h"

static inline int64_t shunt_csr_words_width(const struct shunt_csr_work *m, int lanes_log2)
{
  return 2 * 16 / m->size << lanes_log2;
}

/* Is a row of C so wide that a group of 4 lanes has it? */
static inline bool shunt_csr_words_are_narrow(const struct shunt_csr_work *m)
{
  return m->n == shunt_csr_words_width(m, 2);
}

/* The logarithm of a group's lanes: as wide as C, or as whole slices let it be, 32 lanes only of
   rows alike, which mostly share columns.  0: slices are not whole.  */
static inline int shunt_csr_words_lanes_log2(const struct shunt_csr_work *m)
{
  if (shunt_csr_words_are_narrow(m)) return 2;
  int l = 2 * m->longest <= 3 * (m->nonzeros / m->rows) ? 5 : 4;
  while (l >= 3 && m->n % shunt_csr_words_width(m, l)) l--;
  return l >= 3 ? l : 0;
}

/* Of a row's: more groups where it is long, or somewhat long and rows are few. */
static inline int shunt_csr_words_team_log2(const struct shunt_csr_work *m, int lanes_log2)
{
  enum { WARPS = 80 /* of a multiprocessor, in teams of 16 lanes */ };
  const int64_t mean = m->nonzeros / m->rows;
  const int64_t few =
      (int64_t)(2 * WARPS) * m->multiprocessors * shunt_csr_words_width(m, lanes_log2) / m->n;
  if (mean >= 96 || (mean >= 48 && m->rows < few)) return 5;
  return lanes_log2 == 3 && mean >= 30 ? 4 : lanes_log2;
}

/* By the mean row.  Short ones are better as lists; those of C of 256 bytes had better be short, or
   long enough for a whole warp.  In 2-byte types A's words are half of B's, so that long ones gain
   nothing, and short ones do if they are many.  */
static inline bool shunt_csr_suits_words(const struct shunt_csr_work *m)
{
  const int64_t mean = m->nonzeros / m->rows;
  const bool is_short = 2 * m->nonzeros < 13 * m->rows;
  const bool are_many = m->rows >= 256 * (int64_t)m->multiprocessors;
  if (shunt_csr_words_are_narrow(m)) return mean < 9 && are_many;
  if (m->size == 2) return mean < 40 && (!is_short || (mean >= 4 && are_many));
  return !is_short && (m->n * m->size > 256 || mean < 40 || mean >= 96);
}

/* Wide C, and no row that its team walks for longer than a quarter of what gathering all takes.  Of
   so many entries that a row may be too long for a team, rows are searched for such. */
static inline bool shunt_csr_has_words(const struct shunt_csr_work *m)
{
  enum { WALK = 110 /* ns an entry of a group */, GATHER = 8000 /* bytes a ns */, START = 2000 };
  if (!m->words || m->rows <= 0 || m->longest < 0 || m->size < 2) return false;
  if (m->n * m->size < 256 && !shunt_csr_words_are_narrow(m)) return false;
  if (m->nonzeros >= SHUNT_CSR_MOST_LIMIT) return false;
  const int l = shunt_csr_words_lanes_log2(m);
  if (!l || !shunt_csr_suits_words(m)) return false;
  const int64_t late = (m->longest >> (shunt_csr_words_team_log2(m, l) - l)) * WALK;
  return 4 * late <= m->nonzeros * m->n * m->size / GATHER + START;
}

#endif
