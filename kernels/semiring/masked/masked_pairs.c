/* masked_pairs.c: the pairs of one row, by marks (masked_pairs.h). */
#include "kernels/semiring/masked/masked_pairs.h"

#include <string.h>

#include "kernels/semiring/masked/masked_prefetch.h"

enum {
  BLOCK = 16,     /* entries of a row that are skipped or looked at as one */
  HALVING = 8,    /* a step of a search costs as much as scanning so many entries */
  READ_AHEAD = 16 /* pairs between the prefetch of a row and its use */
};

static inline int steps_of_search(int64_t n)
{
  return n > 1 ? 64 - __builtin_clzll((uint64_t)n) : 1;
}

bool shunt_worth_seeking(int64_t few, int64_t many)
{
  return few * HALVING < many && few * HALVING * steps_of_search(many) < many;
}

/* First entry of sorted indices[0 .. n) that is not below k. */
static int64_t lower_bound(const uint32_t *indices, int64_t n, uint32_t k)
{
  int64_t low = 0;
  while (n > 0) {
    const int64_t half = n / 2;
    const bool below = indices[low + half] < k;
    low += below ? half + 1 : 0;
    n = below ? n - half - 1 : half;
  }
  return low;
}

/* ---- which entries of k[0 .. n) are marked --------------------------------------------------- */

/* By blocks up to `last`.  any: one of them is as good as all. */
static int64_t count_marked(const uint8_t *marked, const uint32_t *k, int64_t n, uint32_t last,
                            bool any)
{
  int64_t c0 = 0, c1 = 0, c2 = 0, c3 = 0, q = 0;
  for (; q + BLOCK <= n; q += BLOCK) {
    if (k[q] > last || (any && (c0 | c1 | c2 | c3))) return c0 + c1 + c2 + c3;
    for (int64_t at = q; at < q + BLOCK; at += 4) {
      uint64_t two, more;
      memcpy(&two, k + at, sizeof two);
      memcpy(&more, k + at + 2, sizeof more);
      c0 += marked[(uint32_t)two];
      c1 += marked[two >> 32];
      c2 += marked[(uint32_t)more];
      c3 += marked[more >> 32];
    }
  }
  for (; q < n; q++) c0 += marked[k[q]];
  return c0 + c1 + c2 + c3;
}

/* The same, to met [], without a branch on each. */
static int64_t list_marked(const uint8_t *marked, const uint32_t *k, int64_t n, uint32_t last,
                           uint32_t *met)
{
  int64_t count = 0, q = 0;
  for (; q + BLOCK <= n; q += BLOCK) {
    if (k[q] > last) return count;
    for (int64_t at = q; at < q + BLOCK; at++) {
      met[count] = (uint32_t)at;
      count += marked[k[at]];
    }
  }
  for (; q < n; q++) {
    met[count] = (uint32_t)q;
    count += marked[k[q]];
  }
  return count;
}

int64_t shunt_masked_seek(const uint32_t *few, int64_t n_few, const uint32_t *k, int64_t n,
                          uint32_t *met)
{
  int64_t from = 0, count = 0;
  for (int64_t q = 0; q < n_few && from < n; q++) {
    from += lower_bound(k + from, n - from, few[q]);
    if (from == n || k[from] != few[q]) continue;
    if (met) met[count] = (uint32_t)from;
    count++, from++;
  }
  return count;
}

/* ---- one pair -------------------------------------------------------------------------------- */

struct row {
  const uint32_t *k;
  int64_t n;
};

static struct row row_of(const struct shunt_rows *r, int64_t i)
{
  return (struct row){r->indices + r->offsets[i], shunt_row_length(r, i)};
}

/* Entries begin .. begin + n of the scanned operand. */
struct other {
  const uint32_t *k;
  int64_t begin, n;
};

static const void *values_from(const struct shunt_rows *r, int64_t begin, size_t size)
{
  return (const char *)r->values + (r->iso ? 0 : (size_t)begin * size);
}

static int64_t count_pair(const struct shunt_masked_dot_work *x, const struct shunt_masked_marks *t,
                          struct row a, struct other b)
{
  if (shunt_worth_seeking(a.n, b.n)) return shunt_masked_seek(a.k, a.n, b.k, b.n, NULL);
  return count_marked(t->is_marked, b.k, b.n, a.k[a.n - 1], x->uniform);
}

/* Returns how many meet; if any do, their sum goes to x->values[at]. */
static int64_t sum_pair(const struct shunt_masked_dot_work *x, const struct shunt_masked_side *s,
                        const struct shunt_masked_marks *t, struct row a, struct other b,
                        int64_t at)
{
  const struct shunt_rows *first = s->marked, *second = s->scanned;
  const void *u = first->iso ? first->values : t->value_of;
  const void *w = values_from(second, b.begin, shunt_type_size(s->by.type));
  const int64_t count = shunt_worth_seeking(a.n, b.n)
                            ? shunt_masked_seek(a.k, a.n, b.k, b.n, t->met)
                            : list_marked(t->is_marked, b.k, b.n, a.k[a.n - 1], t->met);
  const struct shunt_terms terms = {count, t->met, b.k, u, w, first->iso, second->iso};
  if (count) x->sum(&s->by, &terms, x->values, at);
  return count;
}

/* Entries of the other row that are in this one, which is marked; their sum or count to its
   place. */
static void dot(const struct shunt_masked_dot_work *x, const struct shunt_masked_side *s,
                const struct shunt_masked_marks *t, struct row a, struct shunt_masked_pair pair)
{
  const uint32_t first = a.k[0], last = a.k[a.n - 1];
  struct other b = {s->scanned->indices + pair.begin, pair.begin, pair.length};
  int64_t count = 0;
  if (b.n > 0 && b.k[0] <= last && b.k[b.n - 1] >= first) {
    for (; b.n > BLOCK && b.k[BLOCK - 1] < first; b.n -= BLOCK) b.k += BLOCK, b.begin += BLOCK;
    count = x->counts ? count_pair(x, t, a, b) : sum_pair(x, s, t, a, b, pair.at);
  }
  if (x->counts)
    x->counts[pair.at] = (uint32_t)count;
  else
    x->exists[pair.at] = count > 0;
}

/* ---- a row ----------------------------------------------------------------------------------- */

static void mark(const struct shunt_masked_marks *t, struct row a, uint8_t as)
{
  for (int64_t q = 0; q < a.n; q++) t->is_marked[a.k[q]] = as;
}

static void spread_values(void *to, const void *from, struct row a, int64_t begin, size_t size)
{
  for (int64_t q = 0; q < a.n; q++) shunt_copy_element(to, a.k[q], from, begin + q, size);
}

SHUNT_ASKS void prefetch(const struct shunt_rows *r, struct shunt_masked_pair pair)
{
  shunt_prefetch_lines(r->indices + pair.begin, (size_t)pair.length * sizeof *r->indices);
}

static void store_mirrors(const struct shunt_masked_dot_work *x,
                          const struct shunt_masked_pair *pairs, int64_t n)
{
  const size_t size = shunt_type_size(x->p->semiring.type);
  for (int64_t h = 0; h < n; h++) {
    const int64_t at = pairs[h].at, to = x->mirror[at];
    if (x->counts) {
      x->counts[to] = x->counts[at];
      continue;
    }
    x->exists[to] = x->exists[at];
    shunt_copy_element(x->values, to, x->values, at, size);
  }
}

static void by_marks(const struct shunt_masked_dot_work *x, const struct shunt_masked_side *s,
                     const struct shunt_masked_marks *t, int64_t r, int64_t n)
{
  const struct row a = row_of(s->marked, r);
  mark(t, a, 1);
  if (t->value_of && !s->marked->iso)
    spread_values(t->value_of, s->marked->values, a, s->marked->offsets[r],
                  shunt_type_size(s->by.type));
  for (int64_t h = 0; h < n; h++) {
    if (h + READ_AHEAD < n) prefetch(s->scanned, t->pairs[h + READ_AHEAD]);
    dot(x, s, t, a, t->pairs[h]);
  }
  mark(t, a, 0);
}

static void nothing_meets(const struct shunt_masked_dot_work *x,
                          const struct shunt_masked_pair *pairs, int64_t n)
{
  for (int64_t h = 0; h < n; h++)
    if (x->counts)
      x->counts[pairs[h].at] = 0;
    else
      x->exists[pairs[h].at] = 0;
}

void shunt_masked_pairs(const struct shunt_masked_dot_work *x, const struct shunt_masked_side *s,
                        const struct shunt_masked_marks *t, int64_t r, int64_t n)
{
  const struct row a = row_of(s->marked, r);
  if (n == 0) return;
  if (a.n == 0)
    nothing_meets(x, t->pairs, n);
  else if (x->counts && a.n <= SHUNT_FEW && shunt_masked_has_few())
    shunt_masked_few(a.k, a.n, s->scanned->indices, t->pairs, n, x->counts);
  else
    by_marks(x, s, t, r, n);
  if (x->symmetric) store_mirrors(x, t->pairs, n);
}
