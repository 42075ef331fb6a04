/* semiring_masked_dot.c: T<M> = A B' with sparse A and B (semiring_masked.h has the method). */
#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_masked.h"
#include "kernels/semiring/semiring_masked_rows.h"
#include "kernels/semiring/semiring_operands.h"

enum {
  PARTS_PER_THREAD = 64,
  LONG = 64,     /* entries of a row of B from which it is cut to the range of A's */
  HALVING = 8,   /* a step of a search costs as much as scanning so many entries */
  SPARSEST = 64, /* rows and columns for each entry, at most */
  READ_AHEAD = 4 /* entries of M between the prefetch of a row and its use */
};

struct shunt_masked_dot_work {
  const struct shunt_masked_dot *p;
  struct shunt_masked_dot copy;
  struct shunt_rows a, b;
  const uint32_t *columns; /* [m.nnz] M's indices */
  void *own_columns;
  shunt_sum sum;
  bool counts;      /* PLUS of PAIR: values are counts */
  bool symmetric;   /* each pair once, to two places */
  uint32_t *mirror; /* [m.nnz] where (j,i) stands for (i,j) */
  int64_t *before;  /* [m.vectors + 1] entries to read before each row of M */
  uint8_t *exists;  /* [m.nnz] */
  void *values;     /* [m.nnz], at the places of M's entries */
  const uint64_t *offsets;
  int64_t longest; /* row of B */
  int threads;
};

/* What one thread has: the row of A that is marked, and the entries that meet. */
struct marks {
  uint8_t *is_marked; /* [k] */
  uint32_t *place;    /* [k] of marked ones: the entry within the row; NULL: values are not read */
  struct shunt_meetings met;
};

/* ---- rows ----------------------------------------------------------------------------------- */

static inline int64_t length(const struct shunt_rows *r, int64_t i)
{
  return r->offsets[i + 1] - r->offsets[i];
}

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
  const int64_t li = length(&x->a, i), lj = length(&x->b, j);
  return !x->symmetric || lj < li || (lj == li && j <= i);
}

/* About as many as cost as much as entry (i,j) of M. */
static inline int64_t reads_of(const struct shunt_masked_dot_work *x, int64_t i, int64_t j)
{
  const int64_t la = length(&x->a, i) * 2 * HALVING, lb = length(&x->b, j);
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
  const int64_t few = length(a, i);
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
    shunt_store_count(x->p->semiring.type, count, x->values, at);
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
    x->exists[p] = dot(x, t, i, j, p) > 0;
    if (x->symmetric && j != i) store_mirror(x, p);
  }
  mark_row(x, t, i, 0);
}

/* ---- the work and its parts ------------------------------------------------------------------ */

static int64_t reads_of_row(const struct shunt_masked_dot_work *x, int64_t v)
{
  const struct shunt_sparse *m = &x->p->m;
  const int64_t i = shunt_vector_id(m, v), end = shunt_vector_begin(m, v + 1);
  int64_t reads = length(&x->a, i);
  for (int64_t p = shunt_vector_begin(m, v); p < end; p++) {
    const int64_t j = x->columns[p];
    reads += reads_of(x, i, j);
  }
  return reads;
}

static void count_reads(struct shunt_masked_dot_work *x)
{
  const struct shunt_sparse *m = &x->p->m;
  SHUNT_OMP(omp parallel for schedule(dynamic, 256) num_threads(x->threads))
  for (int64_t v = 0; v < m->vectors; v++) x->before[v + 1] = reads_of_row(x, v);
  x->before[0] = 0;
  for (int64_t v = 0; v < m->vectors; v++) x->before[v + 1] += x->before[v];
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
  int64_t p = shunt_vector_begin(m, low), done = x->before[low] + length(&x->a, i);
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

static bool multiply(struct shunt_masked_dot_work *x)
{
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

/* ---- the whole ------------------------------------------------------------------------------- */

static bool too_sparse(const struct shunt_sparse *s)
{
  const int64_t longer = s->rows > s->cols ? s->rows : s->cols;
  return longer >= INT32_MAX || longer / SPARSEST > s->nnz + 1024;
}

static shunt_status check(const struct shunt_masked_dot *p)
{
  if (!shunt_sparse_valid(&p->m) || !shunt_sparse_valid(&p->a) || !shunt_sparse_valid(&p->b) ||
      p->m.by_column || p->m.rows != p->a.rows || p->m.cols != p->b.rows || p->a.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  return shunt_sum_of(p->semiring.type) ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

static bool uses(const struct shunt_masked_dot *p, int operand)
{
  const enum shunt_multiplier by = p->semiring.multiplier;
  return by != SHUNT_PAIR && by != (operand ? SHUNT_FIRST : SHUNT_SECOND);
}

static bool make_columns(struct shunt_masked_dot_work *x)
{
  const struct shunt_sparse *m = &x->p->m;
  if (m->index_bytes == 4) x->columns = m->indices;
  if (shunt_same_pattern(m, &x->p->a) && !x->p->a.by_column) x->columns = x->a.indices;
  if (x->columns) return true;
  uint32_t *columns = malloc(((size_t)m->nnz + 1) * sizeof *columns);
  x->columns = x->own_columns = columns;
  for (int64_t p = 0; columns && p < m->nnz; p++) columns[p] = (uint32_t)shunt_entry_index(m, p);
  return columns != NULL;
}

static bool make_operands(struct shunt_masked_dot_work *x)
{
  const struct shunt_masked_dot *p = x->p;
  const size_t size = shunt_type_size(p->semiring.type);
  if (!shunt_rows_make(&p->a, size, uses(p, 0), x->threads, &x->a)) return false;
  if (shunt_same_pattern(&p->a, &p->b) && p->a.by_column == p->b.by_column &&
      (p->a.values == p->b.values || (p->a.iso && p->b.iso))) {
    x->b = x->a;
    memset(x->b.owned, 0, sizeof x->b.owned);
    x->b.values = p->b.iso ? p->b.values : x->a.values;
    x->b.iso = p->b.iso;
  } else if (!shunt_rows_make(&p->b, size, uses(p, 1), x->threads, &x->b)) {
    return false;
  }
  for (int64_t j = 0; j < x->b.rows; j++)
    if (length(&x->b, j) > x->longest) x->longest = length(&x->b, j);
  return make_columns(x);
}

static bool make_results(struct shunt_masked_dot_work *x)
{
  const size_t entries = (size_t)x->p->m.nnz + 1, vectors = (size_t)x->p->m.vectors + 1;
  x->before = malloc(vectors * sizeof *x->before);
  x->exists = calloc(entries, 1);
  x->values = malloc(entries * shunt_type_size(x->p->semiring.type));
  return x->before && x->exists && x->values;
}

static void count_existing(const struct shunt_masked_dot_work *x, uint64_t *offsets)
{
  const struct shunt_sparse *m = &x->p->m;
  SHUNT_OMP(omp parallel for schedule(dynamic, 1024) num_threads(x->threads))
  for (int64_t v = 0; v < m->vectors; v++) {
    const int64_t end = shunt_vector_begin(m, v + 1);
    uint64_t count = 0;
    for (int64_t p = shunt_vector_begin(m, v); p < end; p++) count += x->exists[p];
    offsets[v + 1] = count;
  }
  offsets[0] = 0;
  for (int64_t v = 0; v < m->vectors; v++) offsets[v + 1] += offsets[v];
}

static void work_free(struct shunt_masked_dot_work *x)
{
  shunt_rows_free(&x->a);
  shunt_rows_free(&x->b);
  free(x->mirror);
  free(x->before);
  free(x->own_columns);
  free(x->exists);
  free(x->values);
  free(x);
}

shunt_status shunt_masked_dot_begin(const struct shunt_masked_dot *p, uint64_t *offsets,
                                    struct shunt_masked_dot_work **work)
{
  const shunt_status status = check(p);
  *work = NULL;
  if (status != SHUNT_OK) return status;
  if (too_sparse(&p->a) || too_sparse(&p->b)) return SHUNT_E_UNSUPPORTED;
  struct shunt_masked_dot_work *x = calloc(1, sizeof *x);
  if (!x) return SHUNT_E_MEMORY;
  x->copy = *p;
  x->p = &x->copy;
  x->sum = shunt_sum_of(p->semiring.type);
  x->counts = p->semiring.monoid == SHUNT_PLUS && p->semiring.multiplier == SHUNT_PAIR;
  x->threads = shunt_semiring_threads(p->threads, p->m.nnz * 16);
  x->symmetric = shunt_find_symmetry(&x->copy, &x->mirror);
  if (!make_operands(x) || !make_results(x)) {
    work_free(x);
    return SHUNT_E_MEMORY;
  }
  count_reads(x);
  if (!multiply(x)) {
    work_free(x);
    return SHUNT_E_MEMORY;
  }
  count_existing(x, offsets);
  x->offsets = offsets;
  *work = x;
  return SHUNT_OK;
}

/* Row v of T: those of M's entries that exist. */
static void finish_row(const struct shunt_masked_dot_work *x, int64_t v, uint64_t *indices,
                       void *values)
{
  const struct shunt_sparse *m = &x->p->m;
  const bool narrow = shunt_type_size(x->p->semiring.type) == 4;
  const int64_t begin = shunt_vector_begin(m, v), end = shunt_vector_begin(m, v + 1);
  uint64_t to = x->offsets[v];
  const bool all = x->offsets[v + 1] - to == (uint64_t)(end - begin);
  if (x->offsets[v + 1] == to) return;
  for (int64_t p = begin; p < end; p++) {
    if (!all && !x->exists[p]) continue;
    indices[to] = x->columns[p];
    if (narrow)
      ((uint32_t *)values)[to++] = ((const uint32_t *)x->values)[p];
    else
      ((uint64_t *)values)[to++] = ((const uint64_t *)x->values)[p];
  }
}

void shunt_masked_dot_finish(struct shunt_masked_dot_work *x, uint64_t *indices, void *values)
{
  const int64_t vectors = indices ? x->p->m.vectors : 0;
  SHUNT_OMP(omp parallel for schedule(dynamic, 1024) num_threads(x->threads))
  for (int64_t v = 0; v < vectors; v++) finish_row(x, v, indices, values);
  work_free(x);
}
