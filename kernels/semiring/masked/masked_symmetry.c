/* masked_symmetry.c: the proof that T is symmetric (masked.h). */
#include <string.h>

#include "kernels/semiring/masked/masked_work.h"

static bool same_bytes(const void *x, const void *y, int64_t n, size_t size)
{
  return x == y || (x && y && memcmp(x, y, (size_t)n * size) == 0);
}

bool shunt_same_pattern(const struct shunt_sparse *a, const struct shunt_sparse *b)
{
  if (a->vectors != b->vectors || a->nnz != b->nnz || a->offset_bytes != b->offset_bytes ||
      a->index_bytes != b->index_bytes || (a->ids && b->ids && a->id_bytes != b->id_bytes))
    return false;
  return same_bytes(a->offsets, b->offsets, a->vectors + 1, (size_t)a->offset_bytes) &&
         same_bytes(a->ids, b->ids, a->vectors, (size_t)a->id_bytes) &&
         same_bytes(a->indices, b->indices, a->nnz, (size_t)a->index_bytes);
}

bool shunt_same_values(const struct shunt_sparse *a, const struct shunt_sparse *b, size_t size)
{
  return a->iso == b->iso && a->nnz == b->nnz &&
         same_bytes(a->values, b->values, a->iso ? 1 : a->nnz, size);
}

/* Are both operands read as one value each, or not at all? */
static bool values_alike(const struct shunt_masked_dot *p)
{
  return p->a.iso && p->b.iso;
}

static bool commutes(const struct shunt_masked_dot *p)
{
  const enum shunt_multiplier by = p->semiring.multiplier;
  return by == SHUNT_PAIR || by == SHUNT_TIMES || by == SHUNT_ADD || values_alike(p);
}

static bool are_one(const struct shunt_masked_dot *p)
{
  return p->a.by_column == p->b.by_column && commutes(p) &&
         (values_alike(p) || shunt_same_values(&p->a, &p->b, shunt_type_size(p->semiring.type))) &&
         shunt_same_pattern(&p->a, &p->b);
}

/* Would a proof that M is symmetric prove that A is, too, and B the same?  Then neither has to be
   transposed, whichever way they are held.  */
static bool all_are_one(const struct shunt_masked_dot *p)
{
  return values_alike(p) && p->a.rows == p->a.cols && p->b.rows == p->b.cols &&
         shunt_same_pattern(&p->m, &p->a) && shunt_same_pattern(&p->m, &p->b);
}

/* Of the entries (i,j) of rows first .. end those before the diagonal, which ascend in j's row from
   behind its diagonal on: row j's next one must be in column i.  next: where that stands.  */
static bool pair_rows(struct shunt_masked_dot_work *x, int64_t first, int64_t end, uint32_t *next)
{
  const struct shunt_sparse m = x->p->m;
  const uint32_t *columns = x->columns;
  uint32_t *mirror = x->mirror;
  for (int64_t i = first; i < end; i++) {
    const int64_t end_of_row = shunt_vector_begin(&m, i + 1);
    int64_t p = shunt_vector_begin(&m, i);
    for (; p < end_of_row && columns[p] < i; p++) {
      const int64_t j = columns[p], q = next[j]++;
      if (q >= shunt_vector_begin(&m, j + 1) || columns[q] != i) return false;
      mirror[p] = (uint32_t)q;
      mirror[q] = (uint32_t)p;
    }
    if (p < end_of_row && columns[p] == i) mirror[p] = (uint32_t)p;
  }
  return true;
}

/* Counts, in each of the columns, the entries before the diagonal; behind [rows]: where each row
   goes on behind it.  */
static void count_rows(const struct shunt_masked_dot_work *x, int64_t first, int64_t end,
                       uint32_t *counts, uint32_t *behind)
{
  const struct shunt_sparse m = x->p->m;
  const uint32_t *columns = x->columns;
  for (int64_t i = first; i < end; i++) {
    const int64_t end_of_row = shunt_vector_begin(&m, i + 1);
    int64_t p = shunt_vector_begin(&m, i);
    for (; p < end_of_row && columns[p] < i; p++)
      if (counts) counts[columns[p]]++;
    behind[i] = (uint32_t)(p + (p < end_of_row && columns[p] == i));
  }
}

/* Rows in shares, each with counts of its own. */
struct proof {
  struct shunt_masked_dot_work *x;
  int shares;
  uint32_t *counts, *behind; /* [shares][rows], [rows] */
  bool failed;
};

static void fail(struct proof *f)
{
  __atomic_store_n(&f->failed, true, __ATOMIC_RELAXED);
}

/* Each share's counts become the places of its first entries; false: some row has not as many
   entries behind its diagonal as there are before it in its column.  */
static void make_places(void *proof, int64_t begin, int64_t end, int worker)
{
  struct proof *f = proof;
  const struct shunt_sparse m = f->x->p->m;
  const int64_t n = m.rows;
  bool good = true;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    uint32_t next = f->behind[i];
    for (int t = 0; t < f->shares; t++) {
      uint32_t *at = f->counts + t * n + i;
      const uint32_t count = *at;
      *at = next;
      next += count;
    }
    good = good && next == shunt_vector_begin(&m, i + 1);
  }
  if (!good) fail(f);
}

/* First row of a share, by entries. */
static int64_t share_of(const struct shunt_sparse *m, int threads, int t)
{
  if (t == threads || m->nnz == 0) return m->rows;
  return t == 0 ? 0 : shunt_vector_of(m, m->nnz / threads * t);
}

static void count_shares(void *proof, int64_t begin, int64_t end, int worker)
{
  const struct proof *f = proof;
  const struct shunt_sparse *m = &f->x->p->m;
  (void)worker;
  for (int t = (int)begin; t < end; t++) {
    uint32_t *counts = f->counts + t * m->rows;
    memset(counts, 0, (size_t)m->rows * sizeof *counts);
    count_rows(f->x, share_of(m, f->shares, t), share_of(m, f->shares, t + 1), counts, f->behind);
  }
}

static void pair_shares(void *proof, int64_t begin, int64_t end, int worker)
{
  struct proof *f = proof;
  const struct shunt_sparse *m = &f->x->p->m;
  (void)worker;
  for (int t = (int)begin; t < end; t++)
    if (!pair_rows(f->x, share_of(m, f->shares, t), share_of(m, f->shares, t + 1),
                   f->counts + t * m->rows))
      fail(f);
}

static int sorters(const struct shunt_masked_dot *p, int threads)
{
  return shunt_masked_sorters(threads, p->m.nnz, p->m.rows);
}

/* Fills x->mirror.  places: [threads + 1][rows] scratch.  False: M is not symmetric. */
static bool pair_up(struct shunt_masked_dot_work *x, uint32_t *places)
{
  const struct shunt_sparse *m = &x->p->m;
  const int64_t n = m->rows;
  const int threads = sorters(x->p, x->threads);
  enum { ROWS = 512 };
  uint32_t *behind = places + threads * n;
  if (threads == 1) {
    bool good;
    /* Rows that have not enough are found as they are met, those that have too many below. */
    count_rows(x, 0, n, NULL, behind);
    good = pair_rows(x, 0, n, behind);
    for (int64_t i = 0; good && i < n; i++) good = behind[i] == shunt_vector_begin(m, i + 1);
    return good;
  }
  struct proof f = {x, threads, places, behind, false};
  shunt_team_loop(threads, threads, 1, count_shares, &f);
  shunt_team_loop(threads, n, ROWS, make_places, &f);
  if (!f.failed) shunt_team_loop(threads, threads, 1, pair_shares, &f);
  return !f.failed;
}

size_t shunt_symmetry_bytes(const struct shunt_masked_dot *p, int threads)
{
  return shunt_piece_bytes(p->m.rows * (sorters(p, threads) + 1) + 1, sizeof(uint32_t)) +
         shunt_piece_bytes(p->m.nnz, sizeof(uint32_t));
}

/* Fills x->mirror, if M's pattern is symmetric. */
static bool find_mirror(struct shunt_masked_dot_work *x)
{
  const struct shunt_masked_dot *p = &x->copy;
  const size_t places = ((size_t)sorters(p, x->threads) + 1) * (size_t)p->m.rows + 1;
  uint32_t *scratch = shunt_masked_piece(&x->memory, places * sizeof *scratch);
  x->mirror = shunt_masked_piece(&x->memory, (size_t)p->m.nnz * sizeof *x->mirror);
  return scratch && x->mirror && pair_up(x, scratch);
}

static bool may_be_symmetric(const struct shunt_sparse *m)
{
  return m->rows == m->cols && !m->ids && m->nnz <= UINT32_MAX;
}

bool shunt_find_symmetry(struct shunt_masked_dot_work *x)
{
  struct shunt_masked_dot *p = &x->copy;
  if (!may_be_symmetric(&p->m)) return false;
  const bool one = all_are_one(p);
  if (!one && !are_one(p)) return false;
  const bool symmetric = find_mirror(x);
  if (one && symmetric) p->a.by_column = p->b.by_column = false;
  return symmetric;
}

bool shunt_find_symmetry_by_rows(struct shunt_masked_dot_work *x)
{
  const struct shunt_masked_dot *p = &x->copy;
  const struct shunt_rows *a = &x->a, *b = &x->b;
  const size_t size = shunt_type_size(p->semiring.type);
  return p->a.by_column != p->b.by_column && may_be_symmetric(&p->m) && commutes(p) &&
         a->rows == b->rows && a->nnz == b->nnz && a->iso == b->iso &&
         same_bytes(a->offsets, b->offsets, a->rows + 1, sizeof *a->offsets) &&
         same_bytes(a->indices, b->indices, a->nnz, sizeof *a->indices) &&
         (values_alike(p) || same_bytes(a->values, b->values, a->nnz, size)) && find_mirror(x);
}
