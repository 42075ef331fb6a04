/* masked_saxpy.c: rows of B' added up under the mask (masked_saxpy.h).

   Threads take parts of equal work: of M's rows, or, where a row is worth more than a part, of its
   entries, whose columns then bound what is read of B's rows.  Each sum is added up in the order of
   k by one thread.  */
#include "kernels/semiring/masked/masked_saxpy.h"

#include <string.h>

#include "kernels/semiring/masked/masked_pairs.h"
#include "kernels/semiring/masked/masked_prefetch.h"
#include "kernels/semiring/semiring_choice.h"

enum {
  READ_AHEAD = 8,      /* entries of A */
  WORTH_BOUNDING = 24, /* entries of a row: shorter ones are added faster than looked at */
  WORTH_BISECTING = 64,
  SOUGHT = 64 /* an entry that is sought, in entries that are added */
};

/* What a thread has. */
struct sums {
  void *values;  /* [columns]; counts where x->counts */
  uint8_t *seen; /* [columns] */
  uint32_t *met; /* [columns] */
  struct shunt_saxpy_sums by;
};

/* ---- one row --------------------------------------------------------------------------------- */

/* Entries of a row of B'. */
struct part_of_row {
  int64_t begin, n;
};

static int64_t first_from(const uint32_t *k, int64_t n, uint32_t column)
{
  int64_t low = 0;
  while (n > 0) {
    const int64_t half = n / 2;
    const bool below = k[low + half] < column;
    low += below ? half + 1 : 0;
    n = below ? n - half - 1 : half;
  }
  return low;
}

/* Without what is outside of columns first .. last. */
static struct part_of_row bounded(const uint32_t *indices, struct part_of_row r, uint32_t first,
                                  uint32_t last)
{
  const uint32_t *k = indices + r.begin;
  if (k[0] > last || k[r.n - 1] < first) return (struct part_of_row){r.begin, 0};
  if (r.n < WORTH_BISECTING) return r;
  if (k[r.n - 1] > last) r.n = first_from(k, r.n, last + 1);
  if (k[0] >= first) return r;
  const int64_t skipped = first_from(k, r.n, first);
  return (struct part_of_row){r.begin + skipped, r.n - skipped};
}

int64_t shunt_saxpy_reads(int64_t n, int64_t length)
{
  return shunt_worth_seeking(n, length) ? n * SOUGHT : length;
}

static void add_counts(uint32_t *counts, const uint32_t *k, int64_t n)
{
  for (int64_t h = 0; h < n; h++) counts[k[h]]++;
}

/* Entry q of A times that row of B'. */
static void add_row(const struct shunt_masked_dot_work *x, const struct sums *t, int64_t q,
                    struct part_of_row r, const uint32_t *found, int64_t n_found)
{
  const uint32_t *k = x->b.indices + r.begin;
  const size_t size = shunt_type_size(x->p->semiring.type);
  if (x->counts && !found) {
    add_counts(t->values, k, r.n);
    return;
  }
  const char *a = (const char *)x->a.values + (x->a.iso ? 0 : (size_t)q * size);
  const char *b = (const char *)x->b.values + (x->b.iso ? 0 : (size_t)r.begin * size);
  if (!found) t->by.add(&x->p->semiring, k, r.n, a, b, !x->b.iso, t->values, t->seen);
  for (int64_t h = 0; h < n_found; h++)
    if (x->counts)
      ((uint32_t *)t->values)[k[found[h]]]++;
    else
      t->by.add(&x->p->semiring, k + found[h], 1, a, b + (x->b.iso ? 0 : (size_t)found[h] * size),
                1, t->values, t->seen);
}

/* What entry q of A needs, and where the row of a later one stands. */
SHUNT_ASKS void prefetch(const struct shunt_masked_dot_work *x, int64_t q)
{
  const struct shunt_rows *b = &x->b;
  const int64_t k = x->a.indices[q], begin = b->offsets[k], n = b->offsets[k + 1] - begin;
  const size_t size = shunt_type_size(x->p->semiring.type);
  if (q + READ_AHEAD < x->a.nnz) __builtin_prefetch(b->offsets + x->a.indices[q + READ_AHEAD]);
  shunt_prefetch_lines(b->indices + begin, (size_t)n * sizeof *b->indices);
  if (!b->iso)
    shunt_prefetch_lines((const char *)b->values + (size_t)begin * size, (size_t)n * size);
}

/* Adds up what counts for M's entries columns [n], which are of row i. */
static void add_rows(const struct shunt_masked_dot_work *x, const struct sums *t, int64_t i,
                     const uint32_t *columns, int64_t n)
{
  const int64_t end = x->a.offsets[i + 1];
  for (int64_t q = x->a.offsets[i]; q < end; q++) {
    const int64_t k = x->a.indices[q];
    const struct part_of_row whole = {x->b.offsets[k], shunt_row_length(&x->b, k)};
    if (q + READ_AHEAD < x->a.nnz) prefetch(x, q + READ_AHEAD); /* of the next rows, too */
    if (whole.n < WORTH_BOUNDING) {
      add_row(x, t, q, whole, NULL, 0);
      continue;
    }
    const struct part_of_row r = bounded(x->b.indices, whole, columns[0], columns[n - 1]);
    if (r.n == 0) continue;
    if (!shunt_worth_seeking(n, r.n)) {
      add_row(x, t, q, r, NULL, 0);
      continue;
    }
    const int64_t met = shunt_masked_seek(columns, n, x->b.indices + r.begin, r.n, t->met);
    add_row(x, t, q, r, t->met, met);
  }
}

/* Entries begin .. end of M, all of row i. */
static void row(const struct shunt_masked_dot_work *x, const struct sums *t, int64_t i,
                int64_t begin, int64_t end)
{
  const uint32_t *columns = x->columns + begin;
  const int64_t n = end - begin;
  const size_t size = shunt_type_size(x->p->semiring.type);
  if (x->counts) {
    uint32_t *counts = t->values;
    for (int64_t h = 0; h < n; h++) counts[columns[h]] = 0;
    add_rows(x, t, i, columns, n);
    for (int64_t h = 0; h < n; h++) x->counts[begin + h] = counts[columns[h]];
    return;
  }
  t->by.clear(&x->p->semiring, columns, n, t->values);
  for (int64_t h = 0; h < n; h++) t->seen[columns[h]] = 0;
  add_rows(x, t, i, columns, n);
  for (int64_t h = 0; h < n; h++) x->exists[begin + h] = t->seen[columns[h]];
  for (int64_t h = 0; h < n; h++)
    shunt_copy_element(x->values, begin + h, t->values, columns[h], size);
}

/* ---- parts ----------------------------------------------------------------------------------- */

struct run {
  const struct shunt_masked_dot_work *x;
  int64_t *before; /* [m.vectors + 1] the work of M's rows before each */
  int64_t each;
  char *memory; /* of all workers */
};

/* Of M's rows `begin` to `last`, to before[] behind each. */
static void count_some(void *run, int64_t begin, int64_t last, int worker)
{
  const struct run *r = run;
  const struct shunt_masked_dot_work *x = r->x;
  enum { OF_ENTRY = 4, OF_ROW = 8 }; /* as so many terms */
  const struct shunt_sparse *m = &x->p->m;
  (void)worker;
  for (int64_t v = begin; v < last; v++) {
    const int64_t i = shunt_vector_id(m, v), end = x->a.offsets[i + 1];
    const int64_t n = shunt_vector_begin(m, v + 1) - shunt_vector_begin(m, v);
    int64_t work = n ? OF_ENTRY * n + OF_ROW : 0;
    for (int64_t q = x->a.offsets[i]; n && q < end; q++)
      work += OF_ENTRY + shunt_saxpy_reads(n, shunt_row_length(&x->b, x->a.indices[q]));
    r->before[v + 1] = work;
  }
}

/* The work of M's rows before each. */
static void count_work(struct run *r)
{
  enum { ROWS = 128 };
  const int64_t vectors = r->x->p->m.vectors;
  shunt_team_loop(r->x->threads, vectors, ROWS, count_some, r);
  r->before[0] = 0;
  for (int64_t v = 0; v < vectors; v++) r->before[v + 1] += r->before[v];
}

/* The first of M's entries that is behind so much work: of a row, unless that is worth more than
   `whole`. */
static int64_t entry_after(const struct shunt_masked_dot_work *x, const int64_t *before,
                           int64_t work, int64_t whole)
{
  const struct shunt_sparse *m = &x->p->m;
  const struct shunt_sparse list = {
      .vectors = m->vectors, .nnz = before[m->vectors], .offsets = before, .offset_bytes = 8};
  if (work >= before[m->vectors]) return m->nnz;
  const int64_t v = shunt_vector_of(&list, work), of_row = before[v + 1] - before[v];
  const int64_t begin = shunt_vector_begin(m, v), n = shunt_vector_begin(m, v + 1) - begin;
  if (of_row <= whole) return begin;
  return begin + (int64_t)((double)(work - before[v]) / (double)of_row * (double)n);
}

static void part(const struct shunt_masked_dot_work *x, const struct sums *t, int64_t begin,
                 int64_t end)
{
  const struct shunt_sparse *m = &x->p->m;
  if (begin >= end) return;
  for (int64_t v = shunt_vector_of(m, begin); begin < end; v++) {
    const int64_t end_of_row = shunt_vector_begin(m, v + 1);
    const int64_t to = end_of_row < end ? end_of_row : end;
    if (begin < to) row(x, t, shunt_vector_id(m, v), begin, to);
    begin = to;
  }
}

/* A worker's memory: sums, and behind them what they point to.  The sizes of that. */
struct sums_sizes {
  size_t values, seen, met;
};

static struct sums_sizes sizes_of(const struct shunt_masked_dot *p)
{
  const int64_t columns = p->m.cols + 1;
  const bool counts = shunt_masked_counts(p);
  return (struct sums_sizes){
      shunt_piece_bytes(columns, counts ? sizeof(uint32_t) : sizeof(uint64_t)),
      counts ? 0 : shunt_piece_bytes(columns, sizeof(uint8_t)),
      shunt_piece_bytes(columns, sizeof(uint32_t))};
}

static size_t bytes_of_worker(const struct shunt_masked_dot *p)
{
  const struct sums_sizes s = sizes_of(p);
  return shunt_piece_bytes(1, sizeof(struct sums)) + s.values + s.seen + s.met;
}

static size_t bytes_of_workers(const struct shunt_masked_dot *p, int threads)
{
  return (size_t)shunt_team_workers(threads) * bytes_of_worker(p);
}

size_t shunt_saxpy_bytes(const struct shunt_masked_dot *p, int threads)
{
  return shunt_piece_bytes(p->m.vectors + 1, sizeof(int64_t)) + bytes_of_workers(p, threads);
}

static void sums_make(const struct shunt_masked_dot *p, struct sums *t)
{
  const struct sums_sizes s = sizes_of(p);
  char *next = (char *)t + shunt_piece_bytes(1, sizeof *t);
  t->values = memset(next, 0, s.values);
  t->seen = s.seen ? memset(next + s.values, 0, s.seen) : NULL;
  t->met = (void *)(next + s.values + s.seen);
  t->by = shunt_saxpy_sums_of(&p->semiring);
}

struct shunt_sparse shunt_saxpy_operand(const struct shunt_masked_dot *p)
{
  struct shunt_sparse b = p->b;
  b.rows = p->b.cols, b.cols = p->b.rows;
  b.by_column = !p->b.by_column;
  return b;
}

static struct sums *sums_at(const struct run *r, int worker)
{
  return (void *)(r->memory + (size_t)worker * bytes_of_worker(r->x->p));
}

/* What a thread has it makes when its first part comes: its own memory is near. */
static void run_part(void *run, int64_t begin, int64_t end, int worker)
{
  const struct run *r = run;
  struct sums *t = sums_at(r, worker);
  if (!t->values) sums_make(r->x->p, t);
  part(r->x, t, entry_after(r->x, r->before, begin, r->each),
       entry_after(r->x, r->before, end, r->each));
}

/* One thread need not know what each row is worth. */
static bool alone(const struct shunt_masked_dot_work *x, struct sums *t)
{
  sums_make(x->p, t);
  part(x, t, 0, x->p->m.nnz);
  return true;
}

bool shunt_masked_by_saxpy(struct shunt_masked_dot_work *x)
{
  const int64_t vectors = x->p->m.vectors;
  int64_t *before = shunt_masked_piece(&x->memory, ((size_t)vectors + 1) * sizeof *before);
  char *memory = shunt_masked_piece(&x->memory, bytes_of_workers(x->p, x->threads));
  if (!before || !memory) return false;
  if (x->threads == 1) return alone(x, (void *)memory);
  struct run r = {.x = x, .before = before, .memory = memory};
  count_work(&r);
  x->threads = shunt_semiring_threads(x->threads, before[vectors]);
  const int64_t parts = (int64_t)x->threads * SHUNT_PARTS_PER_THREAD;
  const int64_t each = before[vectors] / parts + 1;
  r.each = each;
  const int workers = shunt_team_workers(x->threads);
  for (int t = 0; t < workers; t++) sums_at(&r, t)->values = NULL;
  shunt_team_loop(x->threads, before[vectors], each, run_part, &r);
  return true;
}
