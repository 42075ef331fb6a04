/* masked_dot.c: T<M> = A B': which row each pair is computed from, and the parts of the work. */
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
  char *memory; /* of all workers */
};

/* Of so many pairs in all, those of a part, at most. */
static int64_t pairs_of_part(int64_t pairs, int threads)
{
  return pairs / ((int64_t)threads * SHUNT_PARTS_PER_THREAD) + 1;
}

/* A worker's memory: marks, and behind them what they point to.  The sizes of that. */
struct marks_sizes {
  size_t marked, values, met, pairs;
};

static struct marks_sizes sizes_of(const struct shunt_masked_dot *p, int threads)
{
  const int64_t k = p->a.cols + 1, pairs = pairs_of_part(p->m.nnz, threads);
  const bool counts = shunt_masked_counts(p);
  return (struct marks_sizes){shunt_piece_bytes(k, sizeof(uint8_t)),
                              counts ? 0 : shunt_piece_bytes(k, sizeof(uint64_t)),
                              counts ? 0 : shunt_piece_bytes(k, sizeof(uint32_t)),
                              shunt_piece_bytes(pairs, sizeof(struct shunt_masked_pair))};
}

static size_t bytes_of_worker(const struct shunt_masked_dot *p, int threads)
{
  const struct marks_sizes s = sizes_of(p, threads);
  const size_t marks = shunt_piece_bytes(1, sizeof(struct shunt_masked_marks));
  return marks + s.marked + s.values + s.met + s.pairs;
}

size_t shunt_masked_marks_bytes(const struct shunt_masked_dot *p, int threads)
{
  return (size_t)shunt_team_workers(threads) * bytes_of_worker(p, threads);
}

static struct shunt_masked_marks *marks_at(const struct run *r, int worker)
{
  const size_t each = bytes_of_worker(r->x->p, r->x->threads);
  return (void *)(r->memory + (size_t)worker * each);
}

/* What a thread has it makes when its first part comes: its own memory is near. */
static const struct shunt_masked_marks *marks_of(const struct run *r, int worker)
{
  struct shunt_masked_marks *t = marks_at(r, worker);
  if (t->is_marked) return t;
  const struct marks_sizes s = sizes_of(r->x->p, r->x->threads);
  char *next = (char *)t + shunt_piece_bytes(1, sizeof *t);
  t->pairs = (void *)next;
  t->is_marked = memset(next + s.pairs, 0, s.marked);
  t->value_of = s.values ? next + s.pairs + s.marked : NULL;
  t->met = s.met ? (void *)(next + s.pairs + s.marked + s.values) : NULL;
  return t;
}

static void run_part(void *run, int64_t begin, int64_t end, int worker)
{
  const struct run *r = run;
  const struct shunt_masked_marks *t = marks_of(r, worker);
  for (; begin < end; begin += r->each) {
    const int64_t next = begin + r->each < end ? begin + r->each : end;
    if (r->left)
      part_left(r->x, &r->side, t, r->left, begin, next);
    else
      part(r->x, &r->side, t, begin, next);
  }
}

/* All pairs, or with `left` those. */
static void run(const struct shunt_masked_dot_work *x, const struct shunt_masked_left *left,
                char *memory)
{
  const struct shunt_semiring by = x->p->semiring;
  struct shunt_semiring turned = by;
  const int64_t all = left ? left->offsets[x->b.rows] : x->p->m.nnz;
  const int64_t each = pairs_of_part(all, x->threads);
  turned.multiplier = exchanged(by.multiplier);
  const struct shunt_masked_side rows = {&x->a, &x->b, by}, columns = {&x->b, &x->a, turned};
  struct run r = {x, left, left ? columns : rows, all, each, memory};
  const int workers = shunt_team_workers(x->threads);
  const struct shunt_masked_marks none = {.value_of = NULL};
  for (int t = 0; t < workers; t++) *marks_at(&r, t) = none;
  shunt_team_loop(x->threads, all, each, run_part, &r);
}

bool shunt_masked_by_marks(struct shunt_masked_dot_work *x)
{
  struct shunt_masked_left left = {NULL, NULL};
  char *memory = shunt_masked_piece(&x->memory, shunt_masked_marks_bytes(x->p, x->threads));
  if (!memory) return false;
  x->two_sided = shunt_masked_worth_leaving(x);
  run(x, NULL, memory);
  if (!x->two_sided) return true;
  if (!shunt_masked_left_make(x, &left)) return false;
  run(x, &left, memory);
  return true;
}
