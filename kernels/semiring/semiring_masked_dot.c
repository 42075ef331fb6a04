/* semiring_masked_dot.c: T<M> = A B' by marking the rows of A (semiring_masked.h has the
   method). */
#include <stdlib.h>

#include "kernels/semiring/semiring_masked_work.h"

enum {
  PARTS_PER_THREAD = 64,
  LONG = 64,     /* entries of a row of B from which it is cut to the range of A's */
  HALVING = 8,   /* a step of a search costs as much as scanning so many entries */
  READ_AHEAD = 4 /* entries of M between the prefetch of a row and its use */
};

/* What one thread has: the row of A that is marked, and the entries that meet. */
struct marks {
  uint8_t *is_marked; /* [k] */
  uint32_t *place;    /* [k] of marked ones: the entry within the row; NULL: values are not read */
  struct shunt_meetings met;
};

/* ---- rows ----------------------------------------------------------------------------------- */

static inline int steps_of_search(int64_t n)
{
  return n > 1 ? 64 - __builtin_clzll((uint64_t)n) : 1;
}

/* Is it cheaper to seek each of `few` in the other row than to scan that? */
static inline bool worth_seeking(int64_t few, int64_t many)
{
  return few * HALVING < many && few * HALVING * steps_of_search(many) < many;
}

/* In a symmetric T the pair {i,j} is computed from the longer row, or of equal ones from the later,
   which scans the other.  */
static inline bool is_mine(const struct shunt_masked_dot_work *x, int64_t i, int64_t j)
{
  const int64_t li = shunt_row_length(&x->a, i), lj = shunt_row_length(&x->b, j);
  return !x->symmetric || lj < li || (lj == li && j <= i);
}

/* About as many as cost as much as entry (i,j) of M. */
static inline int64_t reads_of(const struct shunt_masked_dot_work *x, int64_t i, int64_t j)
{
  const int64_t la = shunt_row_length(&x->a, i) * 2 * HALVING, lb = shunt_row_length(&x->b, j);
  return !is_mine(x, i, j) ? 1 : 4 + (la < lb ? la : lb);
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

/* ---- one dot product ------------------------------------------------------------------------ */

static int64_t count_marked(const uint8_t *marked, const uint32_t *k, int64_t n)
{
  int64_t c0 = 0, c1 = 0, c2 = 0, c3 = 0, q = 0;
  for (; q + 4 <= n; q += 4) {
    c0 += marked[k[q]];
    c1 += marked[k[q + 1]];
    c2 += marked[k[q + 2]];
    c3 += marked[k[q + 3]];
  }
  for (; q < n; q++) c0 += marked[k[q]];
  return c0 + c1 + c2 + c3;
}

static void seek(const struct shunt_rows *a, int64_t i, const uint32_t *k, int64_t begin, int64_t n,
                 struct shunt_meetings *met)
{
  int64_t from = 0;
  met->count = 0;
  for (int64_t q = a->offsets[i]; q < a->offsets[i + 1] && from < n; q++) {
    from += lower_bound(k + from, n - from, a->indices[q]);
    if (from == n || k[from] != a->indices[q]) continue;
    met->a[met->count] = q;
    met->b[met->count++] = begin + from++;
  }
}

/* Which are marked, without a branch on each. */
static void scan(const struct shunt_rows *a, int64_t i, const struct marks *t, const uint32_t *k,
                 int64_t begin, int64_t n, struct shunt_meetings *met)
{
  int64_t count = 0;
  for (int64_t q = 0; q < n; q++) {
    met->b[count] = q;
    count += t->is_marked[k[q]];
  }
  met->count = count;
  for (int64_t h = 0; h < count; h++) {
    met->a[h] = a->offsets[i] + t->place[k[met->b[h]]];
    met->b[h] += begin;
  }
}

/* Entries of row i of A, which is marked, and row j of B that meet; their sum to values[at]. */
static int64_t dot(const struct shunt_masked_dot_work *x, struct marks *t, int64_t i, int64_t j,
                   int64_t at)
{
  const struct shunt_rows *a = &x->a, *b = &x->b;
  int64_t begin = b->offsets[j], n = b->offsets[j + 1] - begin, count;
  const int64_t few = shunt_row_length(a, i);
  const uint32_t *k = b->indices + begin;
  if (n == 0 || few == 0) return 0;
  const uint32_t first = a->indices[a->offsets[i]], last = a->indices[a->offsets[i + 1] - 1];
  if (k[n - 1] < first || k[0] > last) return 0;
  if (n >= LONG) {
    const int64_t cut = k[0] < first ? lower_bound(k, n, first) : 0;
    k += cut, begin += cut, n -= cut;
    if (k[n - 1] > last) n = lower_bound(k, n, last) + 1;
  }
  const bool seeks = worth_seeking(few, n);
  if (x->counts && !seeks) {
    count = count_marked(t->is_marked, k, n);
  } else {
    if (seeks)
      seek(a, i, k, begin, n, &t->met);
    else
      scan(a, i, t, k, begin, n, &t->met);
    count = t->met.count;
  }
  if (x->counts)
    x->counts[at] = (uint32_t)count;
  else if (count > 0)
    x->sum(&x->p->semiring, a, b, &t->met, x->values, at);
  return count;
}

/* ---- rows of M ------------------------------------------------------------------------------- */

static void mark_row(const struct shunt_masked_dot_work *x, struct marks *t, int64_t i, uint8_t as)
{
  const int64_t begin = x->a.offsets[i], n = x->a.offsets[i + 1] - begin;
  const uint32_t *k = x->a.indices + begin;
  for (int64_t q = 0; q < n; q++) t->is_marked[k[q]] = as;
  for (int64_t q = 0; as && t->place && q < n; q++) t->place[k[q]] = (uint32_t)q;
}

static void store_mirror(const struct shunt_masked_dot_work *x, int64_t at)
{
  const int64_t to = x->mirror[at];
  if (x->counts) {
    x->counts[to] = x->counts[at];
    return;
  }
  x->exists[to] = x->exists[at];
  if (shunt_type_size(x->p->semiring.type) == 4)
    ((uint32_t *)x->values)[to] = ((const uint32_t *)x->values)[at];
  else
    ((uint64_t *)x->values)[to] = ((const uint64_t *)x->values)[at];
}

/* Entries begin .. end of M, all of vector v. */
static void entries_of_row(const struct shunt_masked_dot_work *x, struct marks *t, int64_t v,
                           int64_t begin, int64_t end)
{
  const struct shunt_sparse *m = &x->p->m;
  const int64_t i = shunt_vector_id(m, v);
  mark_row(x, t, i, 1);
  for (int64_t p = begin; p < end; p++) {
    const int64_t j = x->columns[p];
    if (p + READ_AHEAD < end) {
      const int64_t next = x->columns[p + READ_AHEAD];
      __builtin_prefetch(x->b.indices + x->b.offsets[next]);
    }
    if (!is_mine(x, i, j)) continue;
    const int64_t count = dot(x, t, i, j, p);
    if (!x->counts) x->exists[p] = count > 0;
    if (x->symmetric && j != i) store_mirror(x, p);
  }
  mark_row(x, t, i, 0);
}

/* ---- the work and its parts ------------------------------------------------------------------ */

static int64_t reads_of_row(const struct shunt_masked_dot_work *x, int64_t v)
{
  const struct shunt_sparse *m = &x->p->m;
  const int64_t i = shunt_vector_id(m, v), end = shunt_vector_begin(m, v + 1);
  int64_t reads = shunt_row_length(&x->a, i);
  for (int64_t p = shunt_vector_begin(m, v); p < end; p++) {
    const int64_t j = x->columns[p];
    reads += reads_of(x, i, j);
  }
  return reads;
}

static bool count_reads(struct shunt_masked_dot_work *x)
{
  const struct shunt_sparse *m = &x->p->m;
  x->before = malloc(((size_t)m->vectors + 1) * sizeof *x->before);
  if (!x->before) return false;
  SHUNT_OMP(omp parallel for schedule(dynamic, 256) num_threads(x->threads))
  for (int64_t v = 0; v < m->vectors; v++) x->before[v + 1] = reads_of_row(x, v);
  x->before[0] = 0;
  for (int64_t v = 0; v < m->vectors; v++) x->before[v + 1] += x->before[v];
  for (int64_t j = 0; j < x->b.rows; j++)
    if (shunt_row_length(&x->b, j) > x->longest) x->longest = shunt_row_length(&x->b, j);
  return true;
}

struct place {
  int64_t vector, entry;
};

/* Where the entry stands that is reached after `reads`. */
static struct place place_of(const struct shunt_masked_dot_work *x, int64_t reads)
{
  const struct shunt_sparse *m = &x->p->m;
  int64_t low = 0, high = m->vectors;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (x->before[middle + 1] <= reads)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == m->vectors) return (struct place){low, m->nnz};
  const int64_t i = shunt_vector_id(m, low), end = shunt_vector_begin(m, low + 1);
  int64_t p = shunt_vector_begin(m, low), done = x->before[low] + shunt_row_length(&x->a, i);
  for (; p < end && done < reads; p++) {
    const int64_t j = x->columns[p];
    done += reads_of(x, i, j);
  }
  return (struct place){low, p};
}

static void part(const struct shunt_masked_dot_work *x, struct marks *t, struct place from,
                 struct place to)
{
  const struct shunt_sparse *m = &x->p->m;
  for (int64_t v = from.vector; v < m->vectors && v <= to.vector; v++) {
    const int64_t end_of_row = shunt_vector_begin(m, v + 1);
    const int64_t begin = v == from.vector ? from.entry : shunt_vector_begin(m, v);
    const int64_t end = v == to.vector ? to.entry : end_of_row;
    if (begin < end) entries_of_row(x, t, v, begin, end);
  }
}

static bool marks_make(const struct shunt_masked_dot_work *x, struct marks *t)
{
  const size_t k = (size_t)x->a.cols + 1, most = (size_t)x->longest + 1;
  t->is_marked = calloc(k, 1);
  t->place = x->counts ? NULL : malloc(k * sizeof *t->place);
  t->met.a = malloc(most * sizeof *t->met.a);
  t->met.b = malloc(most * sizeof *t->met.b);
  return t->is_marked && (x->counts || t->place) && t->met.a && t->met.b;
}

static void marks_free(struct marks *t)
{
  free(t->is_marked);
  free(t->place);
  free(t->met.a);
  free(t->met.b);
}

bool shunt_masked_by_marks(struct shunt_masked_dot_work *x)
{
  if (!count_reads(x)) return false;
  const int64_t parts = (int64_t)x->threads * PARTS_PER_THREAD;
  const int64_t all = x->before[x->p->m.vectors];
  int good = 1;
  SHUNT_OMP(omp parallel num_threads(x->threads) reduction(& : good))
  {
    struct marks t = {.is_marked = NULL};
    good = marks_make(x, &t);
    /* A thread without memory takes no part, and the product fails. */
    SHUNT_OMP(omp for schedule(dynamic, 1))
    for (int64_t k = 0; k < parts; k++)
      if (good)
        part(x, &t, place_of(x, all / parts * k),
             place_of(x, k + 1 == parts ? all : all / parts * (k + 1)));
    marks_free(&t);
  }
  return good;
}
