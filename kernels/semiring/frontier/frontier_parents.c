/* frontier_parents.c: MIN of SECONDI: words of 64 rows, and for each node a line of numbers, the k
   by which each row came to it first.  What M leaves out counts as met from the beginning.  */
#include <string.h>

#include "kernels/semiring/frontier/frontier_group.h"
#include "kernels/semiring/semiring_operands.h"

/* ---- products -------------------------------------------------------------------------------- */

/* These rows came from k to j, none of them before. */
static inline void note(struct shunt_group *g, int64_t j, int64_t k, uint64_t rows)
{
  uint32_t *to = g->parents + j * g->lanes;
  for (; rows; rows &= rows - 1) to[__builtin_ctzll(rows)] = (uint32_t)k;
}

static inline void push(struct shunt_group *g, struct shunt_range columns, bool wide)
{
  const struct shunt_sparse *a = &g->p->a;
  uint64_t *met = g->t_words;
  for (int64_t k = 0; k < a->rows; k++) {
    const uint64_t bits = g->f_words[k];
    if (!bits) continue;
    const struct shunt_line whole = {shunt_vector_begin(a, k), shunt_vector_begin(a, k + 1)};
    const struct shunt_line l = shunt_line_within(a, whole, columns);
    for (int64_t q = l.begin; q < l.end; q++) {
      const int64_t j = shunt_index_of(a, wide, q);
      const uint64_t fresh = bits & ~met[j];
      if (!fresh) continue;
      met[j] |= fresh;
      note(g, j, k, fresh);
    }
  }
}

static inline void pull(struct shunt_group *g, struct shunt_range columns, bool wide)
{
  const struct shunt_sparse *a = &g->p->a;
  for (int64_t j = columns.begin; j < columns.end; j++) {
    const int64_t end = shunt_vector_begin(a, j + 1);
    uint64_t met = g->t_words[j];
    for (int64_t q = shunt_vector_begin(a, j); q < end && ~met; q++) {
      const int64_t k = shunt_index_of(a, wide, q);
      const uint64_t fresh = g->f_words[k] & ~met;
      if (!fresh) continue;
      met |= fresh;
      note(g, j, k, fresh);
    }
    g->t_words[j] = met;
  }
}

/* ---- T by row -------------------------------------------------------------------------------- */

static inline void put(const struct shunt_group *g, void *values, int64_t at, uint32_t k)
{
  if (g->p->parents == 8)
    ((int64_t *)values)[at] = k;
  else
    ((uint32_t *)values)[at] = k;
}

/* The numbers of a row's 64 nodes from j on; how many there are. */
static int64_t put_block(const struct shunt_group *g, int row, int64_t j, bool apart, void *values,
                         int64_t at)
{
  const uint64_t *bits = g->to.bits + (g->first + row) * g->to.stride;
  const uint32_t *from = g->parents + j * g->lanes + row;
  int64_t count = 0;
  for (uint64_t left = bits[j / 64]; left; left &= left - 1, count++) {
    const int i = __builtin_ctzll(left);
    put(g, values, at + (apart ? i : count), from[i * g->lanes]);
  }
  return count;
}

void shunt_parents_walk(struct shunt_group *g, int part)
{
  const struct shunt_range columns = shunt_part_columns(g, part);
  const bool wide = g->p->a.index_bytes == 8;
  memset(g->count[part], 0, sizeof g->count[part]);
  if (columns.begin >= columns.end) return;
  shunt_words_allowed(g, columns);
  for (int64_t j = columns.begin; j < columns.end; j++) g->t_words[j] = ~g->allowed_words[j];
  if (g->p->a.by_column)
    wide ? pull(g, columns, true) : pull(g, columns, false);
  else
    wide ? push(g, columns, true) : push(g, columns, false);
  for (int64_t j = columns.begin; j < columns.end; j++) g->t_words[j] &= g->allowed_words[j];
  shunt_words_rows(g, part, false);
  for (int64_t j = columns.begin; g->to.values && j < columns.end; j += 64)
    for (int row = 0; row < g->rows; row++)
      put_block(g, row, j, true, g->to.values, (g->first + row) * g->p->a.cols + j);
}

void shunt_parents_collect(struct shunt_group *g, int part)
{
  const struct shunt_range columns = shunt_part_columns(g, part);
  int64_t at[SHUNT_GROUP_BITS];
  for (int row = 0; row < g->rows; row++) at[row] = shunt_group_before(g, part, row);
  for (int64_t j = columns.begin; j < columns.end; j += 64)
    for (int row = 0; row < g->rows; row++)
      at[row] += put_block(g, row, j, false, g->collected, at[row]);
}
