#include "backend/graphblas/mask.h"

#include <string.h>

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

/* Among n numbers of this size, those missing left out. */
static bool holds_minus_zero(const void *values, size_t size, const int8_t *present, int64_t n,
                             int threads)
{
  int found = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : found) if (n > 65536)
  for (int64_t i = 0; i < n; i++) {
    const bool minus = size == 4 ? ((const uint32_t *)values)[i] == UINT32_C(1) << 31
                                 : ((const uint64_t *)values)[i] == UINT64_C(1) << 63;
    found |= minus && (!present || present[i]);
  }
  return found;
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
  SHUNT_DECLINE_IF(holds_minus_zero(m->values, size, present, places, p->threads), SHUNT_R_MASK);
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

static void copy_integers(uint64_t *to, const void *from, int bytes, int64_t n, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (n > 65536)
  for (int64_t i = 0; i < n; i++) to[i] = integer_at(from, bytes, i);
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

static void count_true(const struct grb_operand *m, size_t size, uint64_t *counts, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) if (m->nnz > 16384)
  for (int64_t v = 0; v < m->vectors; v++) {
    int64_t end = (int64_t)integer_at(m->offsets, m->offset_bytes, v + 1);
    uint64_t count = 0;
    for (int64_t e = (int64_t)integer_at(m->offsets, m->offset_bytes, v); e < end; e++)
      count += is_true(m->values, size, e);
    counts[v] = count;
  }
}

/* Fills it with the entries that are true. */
static void filter_pattern(struct grb_product *p, size_t size)
{
  struct grb_result *t = &p->t;
  const struct grb_operand *m = &p->mask;
  uint64_t sum = 0;
  count_true(m, size, t->offsets, p->threads);
  for (int64_t v = 0; v < m->vectors; v++) {
    uint64_t count = t->offsets[v];
    t->offsets[v] = sum;
    sum += count;
  }
  t->offsets[m->vectors] = sum;
  t->nvals = (int64_t)sum;
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 1024) if (m->nnz > 16384)
  for (int64_t v = 0; v < m->vectors; v++) {
    int64_t end = (int64_t)integer_at(m->offsets, m->offset_bytes, v + 1);
    uint64_t to = t->offsets[v];
    for (int64_t e = (int64_t)integer_at(m->offsets, m->offset_bytes, v); e < end; e++)
      if (is_true(m->values, size, e)) t->indices[to++] = integer_at(m->indices, m->index_bytes, e);
  }
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
