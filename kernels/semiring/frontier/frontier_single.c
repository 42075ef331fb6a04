/* frontier_single.c: rows of F pushed one by one, where so little is met that the rows of a group
   would share hardly any of it: what a group costs for each node is then most of its time.

     row s of F     its k, each with a row of A: the j that are met
     line [n]       what came to each j: of sums -0.0 where nothing did, and again once it is
                    collected; of parents the last k that was written
     bits [n/64]    a bit for each j that was met; those that M lets pass are T's row

       j   0 1 2 3   4 5 6 7   8 9 ..
     bits  0 1 1 0   0 0 0 1   0 1 ..         (words of 4 bits, for the picture)
     line  . x y .   . . . z   . v ..    ->   T(s,:) = x y z v ..

   Sums are added in the order of k, as in groups, and have the same bits.  (Gustavson, Two fast
   algorithms for sparse matrices, ACM TOMS 1978; the line is the sparse accumulator of Gilbert,
   Moler and Schreiber, Sparse matrices in MATLAB, SIAM J. Matrix Anal. Appl. 1992.)  */
#include "kernels/semiring/frontier/frontier_single.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_scratch.h"

/* Inlined once for each set of instructions. */
#define INLINED static inline __attribute__((always_inline))

struct row {
  const struct shunt_frontier *p;
  int64_t s, words;
  void *line;
  uint64_t *bits, *mask; /* mask: of a sparse M */
};

static size_t words_of(const struct shunt_frontier *p)
{
  return ((size_t)p->a.cols + 63) / 64;
}

static size_t line_bytes(const struct shunt_frontier *p)
{
  const size_t each = p->sums ? sizeof(double) : p->parents ? sizeof(uint32_t) : 0;
  return shunt_whole_lines((size_t)p->a.cols * each);
}

size_t shunt_single_bytes(const struct shunt_frontier *p)
{
  return line_bytes(p) + shunt_whole_lines(words_of(p) * sizeof(uint64_t));
}

void shunt_single_start(const struct shunt_frontier *p, char *scratch)
{
  double *line = (double *)(void *)scratch;
  for (int64_t j = 0; p->sums && j < p->a.cols; j++) line[j] = -0.0;
}

/* ---- what is met ---------------------------------------------------------------------------- */

/* The rows of A that come next are asked for: they stand anywhere. */
INLINED void ask(const struct shunt_frontier *p, bool wide, int64_t q, int64_t end)
{
  enum { AHEAD = 8 };
  if (q + AHEAD >= end) return;
  const int64_t k = shunt_entry_index(&p->f.sparse, q + AHEAD);
  __builtin_prefetch((const char *)p->a.indices + shunt_vector_begin(&p->a, k) * (wide ? 8 : 4));
}

INLINED void mark(uint64_t *bits, int64_t place)
{
  const uint64_t j = (uint64_t)place;
  bits[j / 64] |= (uint64_t)1 << j % 64;
}

INLINED void add(const struct row *r, struct shunt_line f, bool wide)
{
  const struct shunt_sparse *a = &r->p->a, *from = &r->p->f.sparse;
  double *line = r->line;
  for (int64_t q = f.begin; q < f.end; q++) {
    const int64_t k = shunt_entry_index(from, q), end = shunt_vector_begin(a, k + 1);
    const double value = ((const double *)from->values)[from->iso ? 0 : q];
    ask(r->p, wide, q, f.end);
    for (int64_t e = shunt_vector_begin(a, k); e < end; e++) {
      const int64_t j = shunt_index_of(a, wide, e);
      line[j] += value;
      mark(r->bits, j);
    }
  }
}

/* From the last k to the first, which is the one that is left. */
INLINED void note(const struct row *r, struct shunt_line f, bool wide)
{
  const struct shunt_sparse *a = &r->p->a;
  uint32_t *line = r->line;
  for (int64_t q = f.end; q-- > f.begin;) {
    const int64_t k = shunt_entry_index(&r->p->f.sparse, q), end = shunt_vector_begin(a, k + 1);
    for (int64_t e = shunt_vector_begin(a, k); e < end; e++) {
      const int64_t j = shunt_index_of(a, wide, e);
      line[j] = (uint32_t)k;
      mark(r->bits, j);
    }
  }
}

INLINED void meet(const struct row *r, struct shunt_line f, bool wide)
{
  const struct shunt_sparse *a = &r->p->a;
  for (int64_t q = f.begin; q < f.end; q++) {
    const int64_t k = shunt_entry_index(&r->p->f.sparse, q), end = shunt_vector_begin(a, k + 1);
    ask(r->p, wide, q, f.end);
    for (int64_t e = shunt_vector_begin(a, k); e < end; e++)
      mark(r->bits, shunt_index_of(a, wide, e));
  }
}

/* ---- what M lets pass ------------------------------------------------------------------------ */

/* Of a bitmap only those words are looked at that are not empty. */
INLINED uint64_t mask_word(const struct row *r, int64_t w)
{
  const struct shunt_frontier *p = r->p;
  const int64_t begin = 64 * w, end = begin + 64;
  uint64_t word;
  if (!p->m.dense) return r->mask[w];
  shunt_bits_of_row(&p->m, r->s, (struct shunt_range){begin, end < p->a.cols ? end : p->a.cols},
                    &word);
  return word;
}

/* How many bits stay. */
INLINED uint64_t apply_mask(const struct row *r)
{
  const struct shunt_frontier *p = r->p;
  const uint64_t flipped = p->complement ? ~(uint64_t)0 : 0;
  double *line = r->line;
  uint64_t count = 0;
  if (!p->m.dense) shunt_bits_of_row(&p->m, r->s, (struct shunt_range){0, p->a.cols}, r->mask);
  for (int64_t w = 0; w < r->words; w++) {
    if (!r->bits[w]) continue;
    const uint64_t stay = r->bits[w] & (mask_word(r, w) ^ flipped);
    for (uint64_t go = p->sums ? r->bits[w] ^ stay : 0; go; go &= go - 1)
      line[64 * w + __builtin_ctzll(go)] = -0.0;
    r->bits[w] = stay;
    count += (uint64_t)__builtin_popcountll(stay);
  }
  return count;
}

/* ---- T's row --------------------------------------------------------------------------------- */

/* The value of j, to values[at]. */
INLINED void take(const struct row *r, int64_t j, void *values, int64_t at)
{
  if (r->p->sums) {
    ((double *)values)[at] = ((double *)r->line)[j];
    ((double *)r->line)[j] = -0.0;
  } else if (r->p->parents == 8)
    ((int64_t *)values)[at] = ((const uint32_t *)r->line)[j];
  else
    ((uint32_t *)values)[at] = ((const uint32_t *)r->line)[j];
}

/* One after the other, or each at its place. */
INLINED void collect(const struct row *r, bool apart, void *values)
{
  int64_t next = 0;
  for (int64_t w = 0; w < r->words; w++)
    for (uint64_t left = r->bits[w]; left; left &= left - 1, next++) {
      const int64_t j = 64 * w + __builtin_ctzll(left);
      take(r, j, values, apart ? r->s * r->p->a.cols + j : next);
    }
}

/* places: of what becomes a bitmap and has values. */
INLINED bool run(const struct row *r, void *places, uint64_t *entries, void **values)
{
  const struct shunt_frontier *p = r->p;
  const struct shunt_line f = shunt_find_line(&p->f.sparse, r->s);
  const bool wide = p->a.index_bytes == 8;
  memset(r->bits, 0, (size_t)r->words * sizeof *r->bits);
  if (p->sums)
    wide ? add(r, f, true) : add(r, f, false);
  else if (p->parents)
    wide ? note(r, f, true) : note(r, f, false);
  else
    wide ? meet(r, f, true) : meet(r, f, false);
  *entries = apply_mask(r);
  if (!p->sums && !p->parents) return true;
  if (!places) *values = malloc((*entries + 1) * shunt_frontier_value(p));
  if (!places && !*values) return false;
  places ? collect(r, true, places) : collect(r, false, *values);
  return true;
}

/* AVX2 brings instructions that count bits. */
#define DEFINE(set, target)                                                                        \
  target static bool run_##set(const struct row *r, void *places, uint64_t *entries,               \
                               void **values)                                                      \
  {                                                                                                \
    return run(r, places, entries, values);                                                        \
  }

DEFINE(baseline, )
#ifdef SHUNT_SEMIRING_X86
DEFINE(avx2, __attribute__((target("avx2"))))
#endif

bool shunt_single_run(const struct shunt_frontier *p, int64_t s, const struct shunt_places *to,
                      char *scratch, uint64_t *offsets, void **values)
{
  const struct row r = {.p = p,
                        .s = s,
                        .words = (int64_t)words_of(p),
                        .line = scratch,
                        .bits = to->bits + s * to->stride,
                        .mask = (void *)(scratch + line_bytes(p))};
#ifdef SHUNT_SEMIRING_X86
  if (shunt_semiring_level() > 0) return run_avx2(&r, to->values, &offsets[s + 1], values);
#endif
  return run_baseline(&r, to->values, &offsets[s + 1], values);
}
