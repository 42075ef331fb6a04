/* dcsr_random.h: matrices for the tests of dcsr: the same entries as CSR, CSC and COO, and
   a dcsr matrix in memory whose end is watched.

   A matrix is a list of entries (row, column, value bytes) in no order, some repeated, some
   stored zeros.  CSR and CSC take them by row and by column in the order of the list.  */
#ifndef TEST_DCSR_RANDOM_H
#define TEST_DCSR_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "conv/dcsr/dcsr_conv.h"

#define RANDOM_SEED 11
#include "tests/unit/random.h"

/* ---- entries and sources ------------------------------------------------------------------ */

struct entry {
  int64_t row, column, place; /* place: in the list, later in the source */
  uint64_t value;
};

struct entries {
  int64_t rows, cols, nnz;
  struct entry *e;
};

/* About rows x cols x density entries; `repeats`: some stand twice. */
static inline struct entries random_entries(int64_t rows, int64_t cols, double density, int repeats)
{
  int64_t most = 2 * rows * cols + 1;
  struct entries m = {rows, cols, 0, calloc((size_t)most, sizeof(struct entry))};

  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      int times = (double)(random_next() >> 11) * 0x1p-53 < density;
      times += times && repeats && random_below(8) == 0;
      for (; times > 0; times--)
        m.e[m.nnz++] = (struct entry){i, j, 0, random_below(9) ? random_next() : 0};
    }
  for (int64_t p = m.nnz - 1; p > 0; p--) { /* shuffled */
    int64_t q = random_below(p + 1);
    struct entry kept = m.e[p];
    m.e[p] = m.e[q], m.e[q] = kept;
  }
  for (int64_t p = 0; p < m.nnz; p++) m.e[p].place = p;
  return m;
}

static inline int by_row(const void *x, const void *y)
{
  const struct entry *a = x, *b = y;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

static inline int by_column(const void *x, const void *y)
{
  const struct entry *a = x, *b = y;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

static inline int by_row_and_column(const void *x, const void *y)
{
  const struct entry *a = x, *b = y;
  if (a->row == b->row && a->column != b->column) return a->column < b->column ? -1 : 1;
  return by_row(x, y);
}

/* Puts the list into another order, which then counts as its own. */
static inline void reorder(struct entries *m, int (*order)(const void *, const void *))
{
  qsort(m->e, (size_t)m->nnz, sizeof *m->e, order);
  for (int64_t p = 0; p < m->nnz; p++) m->e[p].place = p;
}

/* A source with arrays of its own, and the entries as they stand in it. */
struct owned {
  struct shunt_dcsr_source a;
  void *offsets, *row_indices, *columns, *values;
  struct entries m;
};

static inline void count_lines(struct owned *o, int64_t lines, int csr)
{
  int64_t p = 0;

  for (int64_t i = 0; i <= lines; i++) {
    while (p < o->m.nnz && (csr ? o->m.e[p].row : o->m.e[p].column) < i) p++;
    put(o->offsets, o->a.index_type, i, p + o->a.base);
  }
}

static inline struct owned source_new(const struct entries *m, enum shunt_dcsr_from from,
                                      shunt_type index, shunt_type value, int base)
{
  size_t n = (size_t)m->nnz, size = shunt_type_size(value);
  struct owned o = {{from, m->rows, m->cols, m->nnz, NULL, NULL, NULL, NULL, index, value, base},
                    calloc((size_t)(m->rows + m->cols) + 2, 8),
                    calloc(n + 1, 8),
                    calloc(n + 1, 8),
                    calloc(n + 1, 8),
                    {m->rows, m->cols, m->nnz, calloc(n + 1, sizeof(struct entry))}};

  memcpy(o.m.e, m->e, n * sizeof(struct entry));
  if (from != SHUNT_DCSR_FROM_COO) reorder(&o.m, from == SHUNT_DCSR_FROM_CSR ? by_row : by_column);
  if (from != SHUNT_DCSR_FROM_COO)
    count_lines(&o, from == SHUNT_DCSR_FROM_CSR ? m->rows : m->cols, from == SHUNT_DCSR_FROM_CSR);
  for (int64_t p = 0; p < m->nnz; p++) {
    put(o.row_indices, index, p, o.m.e[p].row + base);
    put(o.columns, index, p, o.m.e[p].column + base);
    memcpy((char *)o.values + (size_t)p * size, &o.m.e[p].value, size);
  }
  o.a.offsets = from == SHUNT_DCSR_FROM_COO ? NULL : o.offsets;
  o.a.row_indices = from == SHUNT_DCSR_FROM_CSR ? NULL : o.row_indices;
  o.a.columns = from == SHUNT_DCSR_FROM_CSC ? NULL : o.columns;
  o.a.values = o.values;
  return o;
}

static inline void source_free(struct owned *o)
{
  free(o->offsets);
  free(o->row_indices);
  free(o->columns);
  free(o->values);
  free(o->m.e);
}

/* ---- a dcsr matrix -------------------------------------------------------------------------- */

enum { GUARD = 64 };

struct packed {
  struct shunt_dcsr d;
  unsigned char *memory;
  void *scratch;
  size_t bytes;
};

/* Laid out with room for `segments`; memory and scratch are exactly as large as asked for. */
static inline struct packed packed_new(const struct shunt_dcsr_source *a,
                                       const struct shunt_dcsr_layout *layout, int64_t segments,
                                       size_t scratch)
{
  struct packed k = {.bytes = shunt_dcsr_bytes(a, layout, segments)};

  k.memory = malloc(k.bytes + GUARD);
  k.scratch = malloc(scratch + GUARD);
  memset(k.memory, 0xee, k.bytes + GUARD);
  memset((char *)k.scratch + scratch, 0xee, GUARD);
  shunt_dcsr_lay_out(a, layout, segments, k.memory, &k.d);
  return k;
}

static inline int is_guard(const unsigned char *at)
{
  int whole = 1;

  for (int i = 0; i < GUARD; i++) whole &= at[i] == 0xee;
  return whole;
}

/* True if nothing was written behind the end of either block. */
static inline int packed_whole(const struct packed *k, size_t scratch)
{
  return is_guard(k->memory + k->bytes) && is_guard((unsigned char *)k->scratch + scratch);
}

static inline void packed_free(struct packed *k)
{
  free(k->memory);
  free(k->scratch);
}

/* ---- the format by its definition -------------------------------------------------------------
 */

static int64_t sorting_width;

static inline int by_strip(const void *x, const void *y)
{
  const struct entry *a = x, *b = y;
  int64_t s = a->column / sorting_width, t = b->column / sorting_width;
  return s != t ? (s < t ? -1 : 1) : by_row(x, y);
}

/* Whether d holds exactly the source's entries, by (strip, row, place), and its segments. */
static inline int is_right(const struct shunt_dcsr *d, const struct owned *o)
{
  struct entry *e = malloc(((size_t)o->m.nnz + 1) * sizeof *e);
  shunt_type t = d->index_type;
  size_t size = shunt_type_size(d->value_type);
  int64_t g = 0, strip = 0;
  int good = d->counts->irregular == 0;

  memcpy(e, o->m.e, (size_t)o->m.nnz * sizeof *e);
  sorting_width = d->width;
  qsort(e, (size_t)o->m.nnz, sizeof *e, by_strip);
  for (int64_t p = 0; p < o->m.nnz && good; p++) {
    int64_t s = e[p].column / d->width;
    if (p == 0 || e[p].row != e[p - 1].row || s != e[p - 1].column / d->width) {
      for (; strip <= s; strip++) good &= get(d->strip_begin, t, strip) == g;
      good &= get(d->row_ids, t, g) == e[p].row && get(d->offsets, t, g) == p;
      g++;
    }
    good &= get(d->columns, t, p) == e[p].column;
    good &= !memcmp((char *)d->values + (size_t)p * size, &e[p].value, size);
  }
  for (; strip <= d->strips; strip++) good &= get(d->strip_begin, t, strip) == g;
  good &= get(d->offsets, t, g) == o->m.nnz && d->counts->segments == (uint64_t)g;
  free(e);
  return good;
}

#endif
