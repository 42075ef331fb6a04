#include "backend/graphblas/mask.h"

#include <string.h>

#include "kernels/semiring/semiring_team.h"

/* Bytes of a mask's entries; 0: a type that is not known here. */
static size_t value_size(const struct grb_library *l, GrB_Type type)
{
  static const size_t size[GRB_NUMBER_COUNT] = {4, 8, 4, 8, 8, 4, 1};
  static const size_t other_size[GRB_OTHER_TYPE_COUNT] = {1, 2, 1, 2};
  for (int i = 0; i < GRB_NUMBER_COUNT; i++)
    if (type == l->type[i]) return size[i];
  for (int i = 0; i < GRB_OTHER_TYPE_COUNT; i++)
    if (type == l->other_type[i]) return other_size[i];
  return 0;
}

/* GraphBLAS looks at the bits: an entry is false if all are 0, so NaN is true. */
static bool is_true(const void *values, size_t size, int64_t p)
{
  uint64_t x = 0;
  memcpy(&x, (const char *)values + (size_t)p * size, size);
  return x != 0;
}

enum { NUMBERS = 1 << 16, ENTRIES = 1 << 14 }; /* that a thread takes at a time */

/* Numbers of a size, those missing left out. */
struct numbers {
  const void *values;
  size_t size;
  const int8_t *present;
  bool found;
};

static void seek_minus_zero(void *numbers, int64_t begin, int64_t end, int worker)
{
  struct numbers *x = numbers;
  bool found = false;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const bool minus = x->size == 4 ? ((const uint32_t *)x->values)[i] == UINT32_C(1) << 31
                                    : ((const uint64_t *)x->values)[i] == UINT64_C(1) << 63;
    found |= minus && (!x->present || x->present[i]);
  }
  if (found) __atomic_store_n(&x->found, true, __ATOMIC_RELAXED);
}

static bool holds_minus_zero(struct numbers x, int64_t n, int threads)
{
  enum { WORTH_A_REGION = 1 << 19 };
  const double ns = 0.5 * (double)n;
  const int team = n < WORTH_A_REGION ? 1 : shunt_team_threads(threads, ns);
  shunt_team_loop(team, n, NUMBERS, seek_minus_zero, &x);
  return x.found;
}

struct shunt_outcome grb_mask_check_zeros(struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const GrB_Type type = p->masked ? grb_operand_type(l, &p->mask) : NULL;
  if (!p->masked || p->settings.structural) return SHUNT_OUTCOME(SHUNT_FITS);
  const size_t size = value_size(l, type);
  SHUNT_DECLINE_IF(size == 0, SHUNT_R_TYPES);
  if (type != l->type[GRB_FP32] && type != l->type[GRB_FP64]) return SHUNT_OUTCOME(SHUNT_FITS);
  SHUNT_DECLINE_IF(!grb_operand_read(l, &p->mask), SHUNT_R_EMPTY);
  const struct grb_operand *m = &p->mask;
  const bool dense = grb_operand_is_dense(m);
  const int64_t places = m->iso ? 1 : dense ? m->rows * m->cols : m->nnz;
  const int8_t *present = dense && !m->iso ? m->present : NULL;
  const struct numbers numbers = {m->values, size, present, false};
  SHUNT_DECLINE_IF(holds_minus_zero(numbers, places, p->threads), SHUNT_R_MASK);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

bool grb_mask_is_whole(const struct grb_product *p)
{
  return p->settings.structural || p->mask.iso;
}

struct shunt_outcome grb_mask_read_sparse(struct grb_product *p)
{
  SHUNT_DECLINE_IF(!grb_operand_is_sparse(&p->mask), SHUNT_R_MASK);
  SHUNT_DECLINE_IF(!grb_operand_read(p->library, &p->mask), SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!grb_operand_is_sparse(&p->mask), SHUNT_R_MASK);
  SHUNT_DECLINE_IF(p->mask.nnz == 0, SHUNT_R_EMPTY);
  if (p->settings.structural) return SHUNT_OUTCOME(SHUNT_FITS);
  GRB_CONTINUE(grb_mask_check_zeros(p));
  size_t size = value_size(p->library, grb_operand_type(p->library, &p->mask));
  SHUNT_DECLINE_IF(size == 0, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(p->mask.iso && !is_true(p->mask.values, size, 0), SHUNT_R_MASK);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

bool grb_mask_replaces_all(const struct grb_product *p)
{
  uint64_t nvals;
  if (p->call->accum) return false;
  if (p->settings.replace) return true;
  if (p->c.handle == p->mask.handle && !p->settings.complement) return grb_mask_is_whole(p);
  return p->library->GrB_Matrix_nvals(&nvals, p->c.handle) == GRB_SUCCESS && nvals == 0;
}

/* ---- the entries that count ------------------------------------------------------------------ */

static uint64_t integer_at(const void *p, int bytes, int64_t i)
{
  return bytes == 8 ? ((const uint64_t *)p)[i] : ((const uint32_t *)p)[i];
}

struct copy {
  uint64_t *to;
  const void *from;
  int bytes;
};

static void copy_some(void *copy, int64_t begin, int64_t end, int worker)
{
  const struct copy *x = copy;
  (void)worker;
  for (int64_t i = begin; i < end; i++) x->to[i] = integer_at(x->from, x->bytes, i);
}

static void copy_integers(uint64_t *to, const void *from, int bytes, int64_t n, int threads)
{
  struct copy x = {to, from, bytes};
  shunt_team_loop(threads, n, NUMBERS, copy_some, &x);
}

/* Fills t's pattern with the whole of M's. */
static void copy_pattern(struct grb_product *p)
{
  struct grb_result *t = &p->t;
  const struct grb_operand *m = &p->mask;
  copy_integers(t->offsets, m->offsets, m->offset_bytes, m->vectors + 1, p->threads);
  copy_integers(t->indices, m->indices, m->index_bytes, m->nnz, p->threads);
  t->nvals = m->nnz;
}

struct filter {
  const struct grb_operand *m;
  size_t size;
  uint64_t *offsets, *indices; /* counts first */
};

static int64_t begin_of(const struct grb_operand *m, int64_t v)
{
  return (int64_t)integer_at(m->offsets, m->offset_bytes, v);
}

static void count_true(void *filter, int64_t begin, int64_t last, int worker)
{
  const struct filter *f = filter;
  (void)worker;
  for (int64_t v = begin; v < last; v++) {
    const int64_t end = begin_of(f->m, v + 1);
    uint64_t count = 0;
    for (int64_t e = begin_of(f->m, v); e < end; e++) count += is_true(f->m->values, f->size, e);
    f->offsets[v] = count;
  }
}

static void take_true(void *filter, int64_t begin, int64_t last, int worker)
{
  const struct filter *f = filter;
  const struct grb_operand *m = f->m;
  (void)worker;
  for (int64_t v = begin; v < last; v++) {
    const int64_t end = begin_of(m, v + 1);
    uint64_t to = f->offsets[v];
    for (int64_t e = begin_of(m, v); e < end; e++)
      if (is_true(m->values, f->size, e))
        f->indices[to++] = integer_at(m->indices, m->index_bytes, e);
  }
}

/* Fills it with the entries that are true. */
static void filter_pattern(struct grb_product *p, size_t size)
{
  struct grb_result *t = &p->t;
  const struct grb_operand *m = &p->mask;
  struct filter f = {m, size, t->offsets, t->indices};
  const int64_t each = 1 + m->vectors * ENTRIES / (m->nnz + 1); /* vectors */
  uint64_t sum = 0;
  shunt_team_loop(p->threads, m->vectors, each, count_true, &f);
  for (int64_t v = 0; v < m->vectors; v++) {
    uint64_t count = t->offsets[v];
    t->offsets[v] = sum;
    sum += count;
  }
  t->offsets[m->vectors] = sum;
  t->nvals = (int64_t)sum;
  shunt_team_loop(p->threads, m->vectors, each, take_true, &f);
}

void grb_mask_drop_empty_vectors(struct grb_result *t)
{
  int64_t to = 0;
  for (int64_t v = 0; v < t->vectors; v++) {
    if (t->offsets[v] == t->offsets[v + 1]) continue;
    t->ids[to] = t->ids[v];
    t->offsets[to++] = t->offsets[v];
  }
  t->offsets[to] = (uint64_t)t->nvals;
  t->vectors = to;
}

void grb_mask_pattern(struct grb_product *p)
{
  const struct grb_operand *m = &p->mask;
  if (p->t.ids) copy_integers(p->t.ids, m->ids, m->id_bytes, p->t.vectors, p->threads);
  if (grb_mask_is_whole(p))
    copy_pattern(p);
  else
    filter_pattern(p, value_size(p->library, grb_operand_type(p->library, m)));
  if (p->t.ids) grb_mask_drop_empty_vectors(&p->t);
}
