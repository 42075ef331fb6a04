/* masked_dot.c: T<M> = A B': which row each pair is computed from, and the parts of the work. */
#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/masked/masked_left.h"

/* ---- pairs of a row of M --------------------------------------------------------------------- */

/* The pairs among entries begin .. end of M, all of row i, that are computed from there; of a
   symmetric T from the longer row, or of equal ones from the later.  */
static int64_t find_pairs(const struct shunt_masked_dot_work *x, struct shunt_masked_pair *pairs,
                          int64_t i, int64_t begin, int64_t end)
{
  const int64_t *offsets = x->b.offsets, length = shunt_row_length(&x->a, i);
  int64_t count = 0;
  for (int64_t p = begin; p < end; p++) {
    const int64_t j = x->columns[p], from = offsets[j], other = offsets[j + 1] - from;
    pairs[count] = (struct shunt_masked_pair){from, other, p};
    if (x->symmetric)
      count += (other < length) | ((other == length) & (j <= i));
    else
      count += !(x->two_sided && shunt_masked_is_left(length, other));
  }
  return count;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Entries begin .. end of M. */
static void part(const struct shunt_masked_dot_work *x, const struct shunt_masked_side *s,
                 const struct shunt_masked_marks *t, int64_t begin, int64_t end)
{
  const struct shunt_sparse *m = &x->p->m;
  if (begin >= end) return;
  for (int64_t v = shunt_vector_of(m, begin); begin < end; v++) {
    const int64_t end_of_row = shunt_vector_begin(m, v + 1), i = shunt_vector_id(m, v);
    const int64_t to = end_of_row < end ? end_of_row : end;
    shunt_masked_pairs(x, s, t, i, find_pairs(x, t->pairs, i, begin, to));
    begin = to;
  }
}

static bool marks_make(const struct shunt_masked_dot_work *x, int64_t most_pairs,
                       struct shunt_masked_marks *t)
{
  const size_t k = (size_t)x->a.cols + 1;
  t->is_marked = calloc(k, 1);
  t->value_of = x->counts ? NULL : malloc(k * sizeof(uint64_t));
  t->met = malloc(k * sizeof *t->met);
  t->pairs = malloc(((size_t)most_pairs + 1) * sizeof *t->pairs);
  return t->is_marked && (x->counts || t->value_of) && t->met && t->pairs;
}

static void marks_free(struct shunt_masked_marks *t)
{
  free(t->is_marked);
  free(t->value_of);
  free(t->met);
  free(t->pairs);
}

/* Of what is left, pairs begin .. end. */
static void part_left(const struct shunt_masked_dot_work *x, const struct shunt_masked_side *s,
                      const struct shunt_masked_marks *t, const struct shunt_masked_left *left,
                      int64_t begin, int64_t end)
{
  const struct shunt_sparse list = {
      .vectors = x->b.rows, .nnz = end, .offsets = left->offsets, .offset_bytes = 8};
  if (begin >= end) return;
  for (int64_t j = shunt_vector_of(&list, begin); begin < end; j++) {
    int64_t n = 0;
    for (; begin < left->offsets[j + 1] && begin < end; begin++) {
      const struct shunt_left_pair pair = left->pairs[begin];
      t->pairs[n++] = (struct shunt_masked_pair){s->scanned->offsets[pair.row],
                                                 shunt_row_length(s->scanned, pair.row), pair.at};
    }
    shunt_masked_pairs(x, s, t, j, n);
  }
}

static enum shunt_multiplier exchanged(enum shunt_multiplier by)
{
  return by == SHUNT_FIRST ? SHUNT_SECOND : by == SHUNT_SECOND ? SHUNT_FIRST : by;
}

struct run {
  const struct shunt_masked_dot_work *x;
  const struct shunt_masked_left *left; /* NULL: all pairs */
  struct shunt_masked_side side;
  int64_t all, each;
  struct shunt_masked_marks *marks; /* [workers] */
  bool failed;
};

/* What a thread has it makes when its first part comes. */
static bool has_marks(struct run *r, struct shunt_masked_marks *t)
{
  if (__atomic_load_n(&r->failed, __ATOMIC_RELAXED)) return false;
  if (t->pairs || marks_make(r->x, r->each, t)) return true;
  __atomic_store_n(&r->failed, true, __ATOMIC_RELAXED);
  return false;
}

static void run_part(void *run, int64_t begin, int64_t end, int worker)
{
  struct run *r = run;
  struct shunt_masked_marks *t = &r->marks[worker];
  if (!has_marks(r, t)) return;
  for (; begin < end; begin += r->each) {
    const int64_t next = begin + r->each < end ? begin + r->each : end;
    if (r->left)
      part_left(r->x, &r->side, t, r->left, begin, next);
    else
      part(r->x, &r->side, t, begin, next);
  }
}

/* All pairs, or with `left` those. */
static bool run(const struct shunt_masked_dot_work *x, const struct shunt_masked_left *left)
{
  const struct shunt_semiring by = x->p->semiring;
  struct shunt_semiring turned = by;
  const int64_t all = left ? left->offsets[x->b.rows] : x->p->m.nnz;
  const int64_t parts = (int64_t)x->threads * SHUNT_PARTS_PER_THREAD, each = all / parts + 1;
  turned.multiplier = exchanged(by.multiplier);
  const struct shunt_masked_side rows = {&x->a, &x->b, by}, columns = {&x->b, &x->a, turned};
  struct run r = {x, left, left ? columns : rows, all, each, NULL, false};
  const int workers = shunt_team_workers(x->threads);
  r.marks = calloc((size_t)workers, sizeof *r.marks);
  if (!r.marks) return false;
  shunt_team_loop(x->threads, all, each, run_part, &r);
  for (int t = 0; t < workers; t++) marks_free(&r.marks[t]);
  free(r.marks);
  return !r.failed;
}

bool shunt_masked_by_marks(struct shunt_masked_dot_work *x)
{
  struct shunt_masked_left left = {NULL, NULL};
  x->two_sided = shunt_masked_worth_leaving(x);
  if (!run(x, NULL)) return false;
  return !x->two_sided || (shunt_masked_left_make(x, &left) && run(x, &left));
}
