/* frontier_sums.c: PLUS of FIRST in FP64: lines of 8 sums, and a byte that says which are there. */
#include <string.h>

#include "kernels/semiring/frontier/frontier_group.h"
#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_operands.h"

#define NOTHING                                                                                    \
  {                                                                                                \
    -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0                                                 \
  }
static const shunt_lanes nothing = NOTHING;

enum { BLOCK = 64 };

/* Half a line: a register of AVX2.  (gcc keeps whole lines on the stack.) */
typedef double half __attribute__((vector_size(32), may_alias));

/* Inlined once for each set of instructions. */
#define INLINED static inline __attribute__((always_inline))

/* ---- F --------------------------------------------------------------------------------------- */

/* Lanes without their bit become -0.0. */
INLINED void put(half *to, const half *values, uint8_t bits)
{
  typedef int64_t mask __attribute__((vector_size(32)));
  const mask each = {1, 2, 4, 8}, there = (mask)((each & (int64_t)bits) != 0);
  *to = (half)(((mask)*values & there) | ((mask) * (const half *)&nothing & ~there));
}

INLINED void lines_of_dense(struct shunt_group *g, struct shunt_range nodes)
{
  const struct shunt_full *f = &g->p->f.full;
  const double *row[SHUNT_GROUP_SUMS];
  for (int s = 0; s < SHUNT_GROUP_SUMS; s++) /* those beyond the last have no bits */
    row[s] = (const double *)f->values +
             (f->iso ? 0 : (g->first + (s < g->rows ? s : 0)) * f->row_stride);
  for (int64_t k = nodes.begin; k < nodes.end; k++) {
    const int64_t at = f->iso ? 0 : k;
    const half low = {row[0][at], row[1][at], row[2][at], row[3][at]};
    const half high = {row[4][at], row[5][at], row[6][at], row[7][at]};
    half *to = (half *)&g->f_values[k];
    if (!g->f_bytes[k]) continue;
    put(to, &low, g->f_bytes[k]);
    put(to + 1, &high, g->f_bytes[k] >> 4);
  }
}

static void values_of_sparse(struct shunt_group *g, struct shunt_range nodes)
{
  const struct shunt_sparse *f = &g->p->f.sparse;
  const double *values = f->values;
  double(*to)[SHUNT_GROUP_SUMS] = (void *)g->f_values;
  for (int row = 0; row < g->rows; row++) {
    const struct shunt_line whole = shunt_find_line(f, g->first + row);
    const struct shunt_line l = shunt_line_within(f, whole, nodes);
    for (int64_t q = l.begin; q < l.end; q++)
      to[shunt_entry_index(f, q)][row] = values[f->iso ? 0 : q];
  }
}

/* ---- products -------------------------------------------------------------------------------- */

/* Which entries count is listed first, without branches, so that their lines are asked for
   together.  */

/* Of A's entries q <= e < end: nodes that have one of these bits. */
INLINED int list(const struct shunt_sparse *a, bool wide, int64_t q, int64_t end,
                 const uint8_t *have, uint8_t bits, uint32_t *nodes)
{
  int count = 0;
  for (; q < end; q++) {
    const int64_t v = shunt_index_of(a, wide, q);
    nodes[count] = (uint32_t)v;
    count += (have[v] & bits) != 0;
  }
  return count;
}

INLINED void push_node(struct shunt_group *g, int64_t k, struct shunt_range columns, bool wide)
{
  const struct shunt_sparse *a = &g->p->a;
  const struct shunt_line whole = {shunt_vector_begin(a, k), shunt_vector_begin(a, k + 1)};
  const struct shunt_line l = shunt_line_within(a, whole, columns);
  const uint8_t bits = g->f_bytes[k];
  const half *from = (const half *)&g->f_values[k], low = from[0], high = from[1];
  uint32_t nodes[BLOCK];
  for (int64_t q = l.begin; q < l.end; q += BLOCK) {
    const int64_t end = q + BLOCK < l.end ? q + BLOCK : l.end;
    const int count = list(a, wide, q, end, g->allowed_bytes, bits, nodes);
    for (int i = 0; i < count; i++) {
      half *to = (half *)&g->t_values[nodes[i]];
      to[0] += low, to[1] += high;
      g->t_bytes[nodes[i]] |= bits;
    }
  }
}

INLINED void push(struct shunt_group *g, struct shunt_range columns, bool wide)
{
  for (int64_t j = columns.begin; j < columns.end; j++) g->t_values[j] = nothing;
  memset(g->t_bytes + columns.begin, 0, (size_t)(columns.end - columns.begin));
  for (int from = 0; from < g->parts; from++)
    for (int64_t c = 0; c < g->met[from]; c++)
      push_node(g, g->active[g->node[from] + c], columns, wide);
  for (int64_t j = columns.begin; j < columns.end; j++) g->t_bytes[j] &= g->allowed_bytes[j];
}

INLINED void pull_node(struct shunt_group *g, int64_t j, bool wide)
{
  const struct shunt_sparse *a = &g->p->a;
  const uint8_t allowed = g->allowed_bytes[j];
  const int64_t last = shunt_vector_begin(a, j + 1);
  uint8_t bits = 0;
  uint32_t nodes[BLOCK];
  half low = ((const half *)&nothing)[0], high = low;
  for (int64_t q = shunt_vector_begin(a, j); q < last; q += BLOCK) {
    const int64_t end = q + BLOCK < last ? q + BLOCK : last;
    const int count = list(a, wide, q, end, g->f_bytes, allowed, nodes);
    for (int i = 0; i < count; i++) {
      const half *from = (const half *)&g->f_values[nodes[i]];
      low += from[0], high += from[1];
      bits |= g->f_bytes[nodes[i]];
    }
  }
  g->t_bytes[j] = bits & allowed;
  half *to = (half *)&g->t_values[j];
  to[0] = low, to[1] = high;
}

INLINED void pull(struct shunt_group *g, struct shunt_range columns, bool wide)
{
  for (int64_t j = columns.begin; j < columns.end; j++)
    if (g->allowed_bytes[j])
      pull_node(g, j, wide);
    else
      g->t_bytes[j] = 0;
}

INLINED void walk(struct shunt_group *g, struct shunt_range columns)
{
  const bool wide = g->p->a.index_bytes == 8;
  if (g->p->a.by_column)
    wide ? pull(g, columns, true) : pull(g, columns, false);
  else
    wide ? push(g, columns, true) : push(g, columns, false);
}

/* ---- T by row -------------------------------------------------------------------------------- */

/* The values of a bitmap; what stands where there is no entry does not matter. */
INLINED void place(struct shunt_group *g, struct shunt_range columns)
{
  const double(*from)[SHUNT_GROUP_SUMS] = (const void *)g->t_values;
  for (int64_t begin = columns.begin; begin < columns.end; begin += BLOCK) {
    const int64_t end = begin + BLOCK < columns.end ? begin + BLOCK : columns.end;
    for (int row = 0; row < g->rows; row++) {
      double *to = (double *)g->to.values + (g->first + row) * g->p->a.cols;
      int64_t j = begin;
      if (!g->to.bits[(g->first + row) * g->to.stride + begin / 64]) continue;
      for (; j + 4 <= end; j += 4) {
        const half four = {from[j][row], from[j + 1][row], from[j + 2][row], from[j + 3][row]};
        memcpy(to + j, &four, sizeof four);
      }
      for (; j < end; j++) to[j] = from[j][row];
    }
  }
}

/* ---- by sets of instructions ----------------------------------------------------------------- */

#define DEFINE(set, target)                                                                        \
  target static void lines_##set(struct shunt_group *g, struct shunt_range nodes)                  \
  {                                                                                                \
    lines_of_dense(g, nodes);                                                                      \
  }                                                                                                \
  target static void walk_##set(struct shunt_group *g, struct shunt_range columns)                 \
  {                                                                                                \
    walk(g, columns);                                                                              \
  }                                                                                                \
  target static void place_##set(struct shunt_group *g, struct shunt_range columns)                \
  {                                                                                                \
    place(g, columns);                                                                             \
  }

DEFINE(baseline, )
#ifdef SHUNT_SEMIRING_X86
DEFINE(avx2, __attribute__((target("avx2"))))
#endif

static const struct kernels {
  void (*lines)(struct shunt_group *, struct shunt_range);
  void (*walk)(struct shunt_group *, struct shunt_range);
  void (*place)(struct shunt_group *, struct shunt_range);
} baseline = {lines_baseline, walk_baseline, place_baseline};

static const struct kernels *kernels(void)
{
#ifdef SHUNT_SEMIRING_X86
  static const struct kernels avx2 = {lines_avx2, walk_avx2, place_avx2};
  if (shunt_semiring_level() > 0) return &avx2;
#endif
  return &baseline;
}

/* ---- the steps ------------------------------------------------------------------------------- */

void shunt_sums_read(struct shunt_group *g, int part)
{
  const struct shunt_range nodes = shunt_part_nodes(g, part);
  uint32_t *active = g->active + nodes.begin;
  int64_t met = 0;
  shunt_bits_bytes(&g->p->f, g->first, g->rows, nodes, g->f_bytes);
  for (int64_t k = nodes.begin; k < nodes.end; k++) {
    active[met] = (uint32_t)k;
    met += g->f_bytes[k] != 0;
  }
  g->met[part] = met;
  if (g->p->f.dense) {
    kernels()->lines(g, nodes);
    return;
  }
  for (int64_t c = 0; c < met; c++) g->f_values[active[c]] = nothing;
  values_of_sparse(g, nodes);
}

void shunt_sums_walk(struct shunt_group *g, int part)
{
  const struct shunt_range columns = shunt_part_columns(g, part);
  const uint8_t flipped = g->p->complement ? (uint8_t)((1 << g->rows) - 1) : 0;
  memset(g->count[part], 0, sizeof g->count[part]);
  if (columns.begin >= columns.end) return;
  shunt_bits_bytes(&g->p->m, g->first, g->rows, columns, g->allowed_bytes);
  for (int64_t j = columns.begin; j < columns.end; j++) g->allowed_bytes[j] ^= flipped;
  kernels()->walk(g, columns);
  for (int row = 0; row < g->rows; row++) {
    uint64_t *to = g->to.bits + (g->first + row) * g->to.stride;
    for (int64_t j = columns.begin; j < columns.end; j += 64) {
      const int64_t n = columns.end - j < 64 ? columns.end - j : 64;
      to[j / 64] = shunt_bits_pick(g->t_bytes + j, row, n);
      g->count[part][row] += __builtin_popcountll(to[j / 64]);
    }
  }
  if (g->to.values) kernels()->place(g, columns);
}

void shunt_sums_collect(struct shunt_group *g, int part)
{
  const struct shunt_range columns = shunt_part_columns(g, part);
  const double(*from)[SHUNT_GROUP_SUMS] = (const void *)g->t_values;
  double *to[SHUNT_GROUP_SUMS];
  for (int row = 0; row < g->rows; row++)
    to[row] = (double *)g->collected + shunt_group_before(g, part, row);
  for (int64_t j = columns.begin; j < columns.end; j += 64)
    for (int row = 0; row < g->rows; row++) {
      const uint64_t *bits = g->to.bits + (g->first + row) * g->to.stride;
      for (uint64_t left = bits[j / 64]; left; left &= left - 1)
        *to[row]++ = from[j + __builtin_ctzll(left)][row];
    }
}
