/* frontier_words.c: ANY of PAIR: words of 64 rows; and what parents have in common with it. */
#include <string.h>

#include "kernels/semiring/frontier/frontier_group.h"
#include "kernels/semiring/semiring_operands.h"

/* ---- products -------------------------------------------------------------------------------- */

/* The T of a part's own nodes. */
static uint64_t *own(const struct shunt_group *g, int part)
{
  return g->t_words + (size_t)part * (size_t)g->p->a.cols;
}

static inline void push(struct shunt_group *g, int part, bool wide)
{
  const struct shunt_sparse *a = &g->p->a;
  uint64_t *to = own(g, part);
  memset(to, 0, (size_t)a->cols * sizeof *to);
  for (int64_t k = g->node[part]; k < g->node[part + 1]; k++) {
    const uint64_t bits = g->f_words[k];
    if (!bits) continue;
    const int64_t end = shunt_vector_begin(a, k + 1);
    for (int64_t q = shunt_vector_begin(a, k); q < end; q++) to[shunt_index_of(a, wide, q)] |= bits;
  }
}

/* What the parts have is put together, in the first one's T. */
static void join(struct shunt_group *g, struct shunt_range columns)
{
  for (int part = 1; part < g->parts; part++) {
    const uint64_t *from = own(g, part);
    for (int64_t j = columns.begin; j < columns.end; j++) g->t_words[j] |= from[j];
  }
}

void shunt_words_allowed(struct shunt_group *g, struct shunt_range columns)
{
  const uint64_t all = g->rows == 64 ? ~(uint64_t)0 : ((uint64_t)1 << g->rows) - 1;
  shunt_bits_words(&g->p->m, g->first, g->rows, columns, g->allowed_words);
  if (!g->p->complement) return;
  for (int64_t j = columns.begin; j < columns.end; j++) g->allowed_words[j] ^= all;
}

static inline void pull(struct shunt_group *g, struct shunt_range columns, bool wide)
{
  const struct shunt_sparse *a = &g->p->a;
  shunt_words_allowed(g, columns);
  for (int64_t j = columns.begin; j < columns.end; j++) {
    const int64_t end = shunt_vector_begin(a, j + 1);
    const uint64_t allowed = g->allowed_words[j];
    uint64_t bits = 0;
    for (int64_t q = shunt_vector_begin(a, j); q < end && (bits & allowed) != allowed; q++)
      bits |= g->f_words[shunt_index_of(a, wide, q)];
    g->t_words[j] = bits & allowed;
  }
}

void shunt_words_read(struct shunt_group *g, int part)
{
  const bool wide = g->p->a.index_bytes == 8;
  shunt_bits_words(&g->p->f, g->first, g->rows, shunt_part_nodes(g, part), g->f_words);
  if (g->p->a.by_column || g->p->parents) return;
  wide ? push(g, part, true) : push(g, part, false);
}

/* ---- T by row -------------------------------------------------------------------------------- */

static void turn(struct shunt_group *g, struct shunt_range columns)
{
  for (int64_t j = columns.begin; j < columns.end; j += 64) {
    const int64_t n = columns.end - j < 64 ? columns.end - j : 64;
    uint64_t *to = g->to.bits + g->first * g->to.stride + j / 64;
    uint64_t w[64] = {0};
    memcpy(w, g->t_words + j, (size_t)n * sizeof *w);
    shunt_bits_transpose(w);
    for (int row = 0; row < g->rows; row++) to[row * g->to.stride] = w[row];
  }
}

static void apply_mask(struct shunt_group *g, int row, struct shunt_range columns)
{
  uint64_t *to = g->to.bits + (g->first + row) * g->to.stride, *mask = g->spare;
  const int64_t begin = columns.begin / 64, end = (columns.end + 63) / 64;
  const uint64_t flipped = g->p->complement ? ~(uint64_t)0 : 0;
  shunt_bits_of_row(&g->p->m, g->first + row, columns, mask + begin);
  for (int64_t w = begin; w < end; w++) to[w] &= mask[w] ^ flipped;
}

void shunt_words_rows(struct shunt_group *g, int part, bool masked)
{
  const struct shunt_range columns = shunt_part_columns(g, part);
  turn(g, columns);
  for (int row = 0; row < g->rows; row++) {
    const uint64_t *to = g->to.bits + (g->first + row) * g->to.stride;
    int64_t count = 0;
    if (masked) apply_mask(g, row, columns);
    for (int64_t w = columns.begin / 64; w < (columns.end + 63) / 64; w++)
      count += __builtin_popcountll(to[w]);
    g->count[part][row] = count;
  }
}

void shunt_words_walk(struct shunt_group *g, int part)
{
  const struct shunt_range columns = shunt_part_columns(g, part);
  const bool wide = g->p->a.index_bytes == 8;
  memset(g->count[part], 0, sizeof g->count[part]);
  if (columns.begin >= columns.end) return;
  if (g->p->a.by_column)
    wide ? pull(g, columns, true) : pull(g, columns, false);
  else
    join(g, columns);
  shunt_words_rows(g, part, !g->p->a.by_column);
}
