/* frontier_group.c: one group of rows of a frontier product: its parts and its scratch. */
#include "kernels/semiring/frontier/frontier_group.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_operands.h"
#include "kernels/semiring/semiring_scratch.h"
#include "kernels/semiring/semiring_team.h"

/* ---- scratch --------------------------------------------------------------------------------- */

static int64_t lanes_of(const struct shunt_frontier *p)
{
  return p->rows < SHUNT_GROUP_BITS ? p->rows : SHUNT_GROUP_BITS;
}

static size_t lay_out(const struct shunt_frontier *p, int parts, char *memory,
                      struct shunt_group *g)
{
  const size_t k = (size_t)p->a.rows + 1, n = (size_t)p->a.cols + 1;
  size_t bytes = 0;
#define PLACE(field, count)                                                                        \
  do {                                                                                             \
    if (memory) g->field = (void *)(memory + bytes);                                               \
    bytes += shunt_whole_lines((count) * sizeof *g->field);                                        \
  } while (0)
  PLACE(count, (size_t)parts);
  if (p->sums) {
    PLACE(active, k);
    PLACE(f_bytes, k);
    PLACE(t_bytes, n);
    PLACE(allowed_bytes, n);
    PLACE(f_values, k);
    PLACE(t_values, n);
  } else {
    const bool own = !p->a.by_column && !p->parents;
    PLACE(f_words, k);
    PLACE(t_words, own ? n * (size_t)parts : n);
    PLACE(allowed_words, n);
    PLACE(spare, n / 64 + 1);
    if (p->parents) PLACE(parents, n * (size_t)lanes_of(p));
  }
#undef PLACE
  return bytes;
}

size_t shunt_group_bytes(const struct shunt_frontier *p, int parts)
{
  return lay_out(p, parts, NULL, NULL);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static int64_t aligned(int64_t place, int64_t size)
{
  const int64_t up = (place + 63) / 64 * 64;
  return up < size ? up : size;
}

/* Of as many nodes; A's vectors of as many entries. */
static void cut(struct shunt_group *g)
{
  const struct shunt_sparse *a = &g->p->a;
  const int64_t size = a->by_column ? a->cols : a->rows;
  int64_t at = 0;
  for (int part = 0; part <= g->parts; part++) {
    g->node[part] = aligned(a->rows * part / g->parts, a->rows);
    g->column[part] = aligned(a->cols * part / g->parts, a->cols);
    if (part == g->parts) continue;
    const int64_t before = a->nnz / g->parts * part;
    while (at < size && shunt_vector_begin(a, at) < before) at += 64;
    (a->by_column ? g->column : g->node)[part] = at < size ? at : size;
  }
}

/* Pushed bits: the parts' own T should hold less than half of what A does. */
int shunt_group_parts(const struct shunt_frontier *p, int threads)
{
  if (p->sums || p->parents || p->a.by_column) return threads;
  const int64_t most = p->a.nnz / (2 * p->a.cols + 1);
  return most < 1 ? 1 : most < threads ? (int)most : threads;
}

struct parts {
  struct shunt_group *g;
  void (*step)(struct shunt_group *, int);
};

static void run_parts(void *parts, int64_t begin, int64_t end, int worker)
{
  const struct parts *x = parts;
  (void)worker;
  for (int64_t part = begin; part < end; part++) x->step(x->g, (int)part);
}

static void each_part(struct shunt_group *g, void (*step)(struct shunt_group *, int))
{
  struct parts x = {g, step};
  shunt_team_loop(g->parts, g->parts, 1, run_parts, &x);
}

static int64_t row_entries(const struct shunt_group *g, int row)
{
  int64_t entries = 0;
  for (int part = 0; part < g->parts; part++) entries += g->count[part][row];
  return entries;
}

int64_t shunt_group_before(const struct shunt_group *g, int part, int row)
{
  int64_t before = 0;
  for (int p = 0; p < g->parts; p++)
    for (int r = 0; r <= row; r++)
      if (r < row || p < part) before += g->count[p][r];
  return before;
}

bool shunt_group_run(struct shunt_group *g, char *scratch, uint64_t *offsets, void **values)
{
  const bool sums = g->p->sums, parents = g->p->parents;
  int64_t entries = 0;
  lay_out(g->p, g->parts, scratch, g);
  g->lanes = lanes_of(g->p);
  cut(g);
  each_part(g, sums ? shunt_sums_read : shunt_words_read);
  each_part(g, sums ? shunt_sums_walk : parents ? shunt_parents_walk : shunt_words_walk);
  for (int row = 0; row < g->rows; row++) {
    const int64_t here = row_entries(g, row);
    offsets[g->first + row + 1] = (uint64_t)here;
    entries += here;
  }
  if ((!sums && !parents) || g->to.values) return true;
  *values = g->collected = malloc(((size_t)entries + 1) * shunt_frontier_value(g->p));
  if (g->collected) each_part(g, sums ? shunt_sums_collect : shunt_parents_collect);
  return g->collected != NULL;
}
