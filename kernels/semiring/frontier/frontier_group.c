/* frontier_group.c: one group of rows of a frontier product. */
#include "kernels/semiring/frontier/frontier_group.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/semiring/semiring_choice.h"
#include "kernels/semiring/semiring_operands.h"

/* The values of a node, one for each row of the group. */
typedef double lanes __attribute__((vector_size(SHUNT_GROUP_SUMS * sizeof(double))));

struct nodes {
  uint64_t *bits;
  lanes *values; /* NULL: no sums */
};

struct state {
  const struct shunt_frontier *p;
  struct shunt_group rows;
  struct nodes f;    /* [k] */
  struct nodes t;    /* [n] values only where there are bits */
  uint64_t *allowed; /* [n] by a sparse mask, or by any where there is pulled */
  uint32_t *active;  /* [k] those of F, `count` */
  int64_t count;
};

static const lanes nothing = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};

/* ---- scratch ---------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes)
{
  return (bytes + 63) & ~(size_t)63;
}

static size_t lay_out(const struct shunt_frontier *p, char *memory, struct state *x)
{
  const size_t k = (size_t)p->a.rows + 1, n = (size_t)p->a.cols + 1;
  size_t bytes = 0;
#define PLACE(field, count)                                                                        \
  do {                                                                                             \
    if (memory) x->field = (void *)(memory + bytes);                                               \
    bytes += rounded((count) * sizeof *x->field);                                                  \
  } while (0)
  PLACE(f.bits, k);
  PLACE(t.bits, n);
  PLACE(allowed, n);
  PLACE(active, k);
  if (p->sums) {
    PLACE(f.values, k);
    PLACE(t.values, n);
  }
#undef PLACE
  return bytes;
}

size_t shunt_group_bytes(const struct shunt_frontier *p)
{
  struct state none;
  return lay_out(p, NULL, &none);
}

/* ---- F and M --------------------------------------------------------------------------------- */

static void add_node(struct state *x, int64_t k, int row, double value)
{
  if (!x->f.bits[k]) {
    x->active[x->count++] = (uint32_t)k;
    if (x->f.values) x->f.values[k] = nothing;
  }
  x->f.bits[k] |= (uint64_t)1 << row;
  if (x->f.values) x->f.values[k][row] = value;
}

/* Without branches on what is there: of a frontier's middle levels that is about half. */
static void add_dense_row(struct state *x, int row, int64_t begin, int64_t end)
{
  const struct shunt_full *f = &x->p->f.full;
  const int64_t at = (x->rows.first + row) * f->row_stride;
  const int8_t *present = f->present ? f->present + at : NULL;
  const double *values = f->values;
  for (int64_t k = begin; k < end; k++) x->f.bits[k] |= (uint64_t)(!present || present[k]) << row;
  if (!x->f.values) return;
  for (int64_t k = begin; k < end; k++) {
    const double value = values[f->iso ? 0 : at + k];
    x->f.values[k][row] = !present || present[k] ? value : -0.0;
  }
}

static void read_dense(struct state *x)
{
  enum { NEAR = 256 }; /* nodes whose values stay in the nearest cache */
  const int64_t n = x->p->a.rows;
  for (int64_t begin = 0; begin < n; begin += NEAR) {
    const int64_t end = begin + NEAR < n ? begin + NEAR : n;
    for (int64_t k = begin; x->f.values && k < end; k++) x->f.values[k] = nothing;
    for (int row = 0; row < x->rows.rows; row++) add_dense_row(x, row, begin, end);
  }
  for (int64_t k = 0; k < n; k++) {
    x->active[x->count] = (uint32_t)k;
    x->count += x->f.bits[k] != 0;
  }
}

static void add_sparse_row(struct state *x, int row)
{
  const struct shunt_sparse *f = &x->p->f.sparse;
  const struct shunt_line l = shunt_find_line(f, x->rows.first + row);
  const double *values = f->values;
  for (int64_t q = l.begin; q < l.end; q++)
    add_node(x, shunt_entry_index(f, q), row, x->f.values ? values[f->iso ? 0 : q] : 0);
}

static void read_frontier(struct state *x)
{
  memset(x->f.bits, 0, (size_t)x->p->a.rows * sizeof *x->f.bits);
  x->count = 0;
  if (x->p->f.dense)
    read_dense(x);
  else
    for (int row = 0; row < x->rows.rows; row++) add_sparse_row(x, row);
}

static uint64_t all_rows(const struct state *x)
{
  return x->rows.rows == 64 ? ~(uint64_t)0 : ((uint64_t)1 << x->rows.rows) - 1;
}

static void flip(struct state *x)
{
  const uint64_t all = all_rows(x);
  for (int64_t j = 0; j < x->p->a.cols; j++) x->allowed[j] ^= all;
}

/* allowed, for all columns. */
static void read_mask(struct state *x)
{
  const struct shunt_lines *m = &x->p->m;
  const int64_t n = x->p->a.cols;
  memset(x->allowed, 0, (size_t)n * sizeof *x->allowed);
  for (int row = 0; row < x->rows.rows; row++) {
    const int64_t i = x->rows.first + row;
    if (m->dense) {
      const int8_t *present = m->full.present ? m->full.present + i * m->full.row_stride : NULL;
      for (int64_t j = 0; j < n; j++) x->allowed[j] |= (uint64_t)(!present || present[j]) << row;
    } else {
      const struct shunt_line l = shunt_find_line(&m->sparse, i);
      for (int64_t q = l.begin; q < l.end; q++)
        x->allowed[shunt_entry_index(&m->sparse, q)] |= (uint64_t)1 << row;
    }
  }
  if (x->p->complement) flip(x);
}

/* ---- products -------------------------------------------------------------------------------- */

static inline int64_t index_of(const struct shunt_sparse *a, bool wide, int64_t q)
{
  return wide ? ((const int64_t *)a->indices)[q] : ((const int32_t *)a->indices)[q];
}

static inline void push_bits(struct state *x, bool wide)
{
  const struct shunt_sparse *a = &x->p->a;
  uint64_t *to = x->t.bits;
  for (int64_t c = 0; c < x->count; c++) {
    const int64_t k = x->active[c], end = shunt_vector_begin(a, k + 1);
    const uint64_t bits = x->f.bits[k];
    for (int64_t q = shunt_vector_begin(a, k); q < end; q++) to[index_of(a, wide, q)] |= bits;
  }
}

static inline void pull_bits(struct state *x, bool wide)
{
  const struct shunt_sparse *a = &x->p->a;
  for (int64_t j = 0; j < a->cols; j++) {
    const int64_t end = shunt_vector_begin(a, j + 1);
    const uint64_t allowed = x->allowed[j];
    uint64_t bits = 0;
    for (int64_t q = shunt_vector_begin(a, j); q < end && (bits & allowed) != allowed; q++)
      bits |= x->f.bits[index_of(a, wide, q)];
    x->t.bits[j] = bits & allowed;
  }
}

/* Sums are of 64 bytes: one register where there is AVX-512.  Inlined once for each. */
#define INLINED static inline __attribute__((always_inline)) void

INLINED push_sums(struct state *x, bool wide)
{
  const struct shunt_sparse *a = &x->p->a;
  const struct nodes t = x->t;
  for (int64_t j = 0; j < a->cols; j++) t.values[j] = nothing;
  for (int64_t c = 0; c < x->count; c++) {
    const int64_t k = x->active[c], end = shunt_vector_begin(a, k + 1);
    const uint64_t bits = x->f.bits[k];
    const lanes values = x->f.values[k];
    for (int64_t q = shunt_vector_begin(a, k); q < end; q++) {
      const int64_t j = index_of(a, wide, q);
      t.values[j] += values;
      t.bits[j] |= bits;
    }
  }
}

INLINED pull_sums(struct state *x, bool wide)
{
  const struct shunt_sparse *a = &x->p->a;
  for (int64_t j = 0; j < a->cols; j++) {
    const int64_t end = shunt_vector_begin(a, j + 1);
    uint64_t bits = 0;
    lanes sum = nothing;
    if (!x->allowed[j]) continue;
    for (int64_t q = shunt_vector_begin(a, j); q < end; q++) {
      const int64_t k = index_of(a, wide, q);
      bits |= x->f.bits[k];
      sum += x->f.values[k];
    }
    x->t.bits[j] = bits & x->allowed[j];
    if (x->t.bits[j]) x->t.values[j] = sum;
  }
}

#ifdef SHUNT_SEMIRING_X86
__attribute__((target("avx512f"))) static void sums_avx512(struct state *x, bool wide)
{
  x->p->a.by_column ? pull_sums(x, wide) : push_sums(x, wide);
}

__attribute__((target("avx2"))) static void sums_avx2(struct state *x, bool wide)
{
  x->p->a.by_column ? pull_sums(x, wide) : push_sums(x, wide);
}
#endif

static void sums_baseline(struct state *x, bool wide)
{
  x->p->a.by_column ? pull_sums(x, wide) : push_sums(x, wide);
}

static void sums(struct state *x)
{
  const bool wide = x->p->a.index_bytes == 8;
#ifdef SHUNT_SEMIRING_X86
  const int level = shunt_semiring_level();
  if (level == 2) {
    sums_avx512(x, wide);
    return;
  }
  if (level == 1) {
    sums_avx2(x, wide);
    return;
  }
#endif
  sums_baseline(x, wide);
}

static void push(struct state *x)
{
  const bool wide = x->p->a.index_bytes == 8;
  if (x->p->sums)
    sums(x);
  else
    wide ? push_bits(x, true) : push_bits(x, false);
}

static void pull(struct state *x)
{
  const bool wide = x->p->a.index_bytes == 8;
  /* Nodes without bits are read, too. */
  for (int64_t k = 0; x->f.values && k < x->p->a.rows; k++)
    if (!x->f.bits[k]) x->f.values[k] = nothing;
  if (x->p->sums)
    sums(x);
  else
    wide ? pull_bits(x, true) : pull_bits(x, false);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Bits of a bitmap mask, looked up for those that are there. */
static uint64_t looked_up(const struct state *x, int64_t j, uint64_t bits)
{
  const struct shunt_full *m = &x->p->m.full;
  uint64_t passing = 0;
  for (uint64_t left = bits; left; left &= left - 1) {
    const int row = __builtin_ctzll(left);
    const bool there = !m->present || m->present[(x->rows.first + row) * m->row_stride + j];
    passing |= (uint64_t)(there != x->p->complement) << row;
  }
  return passing;
}

static void apply_mask(struct state *x)
{
  const bool look = x->p->m.dense;
  if (!look) read_mask(x);
  for (int64_t j = 0; j < x->p->a.cols; j++) {
    const uint64_t bits = x->t.bits[j];
    if (bits) x->t.bits[j] = look ? looked_up(x, j, bits) : bits & x->allowed[j];
  }
}

static bool give(const struct state *x, struct shunt_group_result *out)
{
  const int64_t n = x->p->a.cols;
  int64_t next[64], all = 0;
  memset(out->count, 0, sizeof out->count);
  for (int64_t j = 0; j < n; j++)
    for (uint64_t b = x->t.bits[j]; b; b &= b - 1) out->count[__builtin_ctzll(b)]++;
  for (int row = 0; row < 64; row++) next[row] = all, all += out->count[row];
  out->indices = malloc(((size_t)all + 1) * sizeof *out->indices);
  if (x->p->sums) out->values = malloc(((size_t)all + 1) * sizeof *out->values);
  if (!out->indices || (x->p->sums && !out->values)) return false;
  for (int64_t j = 0; j < n; j++)
    for (uint64_t b = x->t.bits[j]; b; b &= b - 1) {
      const int row = __builtin_ctzll(b);
      const int64_t to = next[row]++;
      out->indices[to] = (uint32_t)j;
      if (out->values) out->values[to] = x->t.values[j][row];
    }
  return true;
}

bool shunt_group_run(const struct shunt_frontier *p, struct shunt_group rows, char *scratch,
                     struct shunt_group_result *out)
{
  struct state x = {.p = p, .rows = rows};
  lay_out(p, scratch, &x);
  read_frontier(&x);
  memset(x.t.bits, 0, (size_t)p->a.cols * sizeof *x.t.bits);
  if (p->a.by_column) {
    read_mask(&x);
    pull(&x);
  } else {
    push(&x);
    apply_mask(&x);
  }
  return give(&x, out);
}
