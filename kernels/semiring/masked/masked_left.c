/* masked_left.c: pairs whose second row is far longer than the first are left until all others are
   done, sorted by the second row: that is marked then, and the first ones are scanned. */
#include "kernels/semiring/masked/masked_left.h"

#include <string.h>

enum { SAMPLE = 512 };

/* What a pair costs from either side, in reads. */
static int64_t cost_of(int64_t marked, int64_t scanned)
{
  return shunt_worth_seeking(marked, scanned) ? marked * 64 : scanned;
}

bool shunt_masked_worth_leaving(const struct shunt_masked_dot_work *x)
{
  enum { PER_ENTRY = 6, PER_LEFT = 20 }; /* reads that sorting costs */
  const struct shunt_sparse *m = &x->p->m;
  const int64_t sample = m->nnz < SAMPLE ? m->nnz : SAMPLE;
  int64_t saved = 0;
  if (x->symmetric || m->nnz > UINT32_MAX) return false;
  for (int64_t e = 0; e < sample; e++) {
    const int64_t p = (int64_t)((double)m->nnz / (double)sample * (double)e);
    const int64_t i = shunt_vector_id(m, shunt_vector_of(m, p)), j = x->columns[p];
    const int64_t la = shunt_row_length(&x->a, i), lb = shunt_row_length(&x->b, j);
    saved -= PER_ENTRY;
    /* Half of it: what lies outside the marked row's range is skipped as it is. */
    if (shunt_masked_is_left(la, lb)) saved += (cost_of(la, lb) - cost_of(lb, la)) / 2 - PER_LEFT;
  }
  return saved > 0;
}

/* Of M's entries from begin to end, those that are left: counted by columns or, with `pairs`, put
   to their places. */
static void sort_part(const struct shunt_masked_dot_work *x, int64_t begin, int64_t end,
                      uint32_t *at, struct shunt_left_pair *pairs)
{
  const struct shunt_sparse *m = &x->p->m;
  if (begin >= end) return;
  for (int64_t v = shunt_vector_of(m, begin), p = begin; p < end; v++) {
    const int64_t end_of_row = shunt_vector_begin(m, v + 1), i = shunt_vector_id(m, v);
    const int64_t la = shunt_row_length(&x->a, i);
    for (; p < end_of_row && p < end; p++) {
      const uint32_t j = x->columns[p];
      if (!shunt_masked_is_left(la, shunt_row_length(&x->b, j))) continue;
      if (pairs)
        pairs[at[j]++] = (struct shunt_left_pair){(uint32_t)i, (uint32_t)p};
      else
        at[j]++;
    }
  }
}

struct sort {
  struct shunt_masked_dot_work *x;
  int64_t each, keys; /* entries of a share */
  uint32_t *at;       /* [shares][keys] */
  struct shunt_left_pair *pairs;
};

static void sort_shares(void *sort, int64_t begin, int64_t end, int worker)
{
  const struct sort *s = sort;
  const int64_t nnz = s->x->p->m.nnz;
  (void)worker;
  for (int64_t t = begin; t < end; t++) {
    const int64_t last = (t + 1) * s->each;
    sort_part(s->x, t * s->each, last < nnz ? last : nnz, s->at + t * s->keys, s->pairs);
  }
}

size_t shunt_masked_left_bytes(const struct shunt_masked_dot *p, int threads)
{
  return shunt_piece_bytes(p->b.rows * shunt_masked_sorters(threads, p->m.nnz, p->b.rows),
                           sizeof(uint32_t)) +
         shunt_piece_bytes(p->b.rows + 1, sizeof(int64_t)) +
         shunt_piece_bytes(p->m.nnz, sizeof(struct shunt_left_pair));
}

bool shunt_masked_left_make(struct shunt_masked_dot_work *x, struct shunt_masked_left *left)
{
  const int64_t keys = x->b.rows, nnz = x->p->m.nnz;
  const int threads = shunt_masked_sorters(x->threads, nnz, keys);
  const int64_t each = nnz / threads + 1;
  const size_t counts = (size_t)threads * (size_t)keys * sizeof(uint32_t);
  uint32_t *at = shunt_masked_piece(&x->memory, counts);
  left->offsets = shunt_masked_piece(&x->memory, ((size_t)keys + 1) * sizeof *left->offsets);
  if (!at || !left->offsets) return false;
  memset(at, 0, counts);
  struct sort s = {x, each, keys, at, NULL};
  shunt_team_loop(threads, threads, 1, sort_shares, &s);
  shunt_masked_starts(at, threads, keys, left->offsets);
  const size_t pairs = (size_t)left->offsets[keys];
  left->pairs = shunt_masked_piece(&x->memory, pairs * sizeof *left->pairs);
  if (!left->pairs) return false;
  s.pairs = left->pairs;
  shunt_team_loop(threads, threads, 1, sort_shares, &s);
  return true;
}
