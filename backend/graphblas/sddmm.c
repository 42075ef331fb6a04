/* sddmm.c: C<M> = accum (C, U * V) with full U and V and a sparse mask: a dot product for each
   entry of M that counts.

   T has the pattern of M, without the entries whose value is false if the mask is
   not structural.  */
#include "backend/graphblas/commit.h"
#include "backend/graphblas/engine.h"
#include "backend/graphblas/mask.h"
#include "backend/graphblas/memory.h"
#include "backend/plan/fault.h"

/* ---- arrays of M ----------------------------------------------------------------------------- */

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
      count += grb_mask_is_true(m->values, size, e);
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
      if (grb_mask_is_true(m->values, size, e))
        t->indices[to++] = integer_at(m->indices, m->index_bytes, e);
  }
}

/* A hypersparse matrix lists only vectors with entries: GraphBLAS' transpose counts on it. */
static void drop_empty_vectors(struct grb_result *t)
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

/* ---- the result ------------------------------------------------------------------------------ */

static bool allocate_result(struct grb_product *p)
{
  const struct grb_library *l = p->library;
  const struct grb_operand *m = &p->mask;
  struct grb_result *t = &p->t;
  size_t entries = (size_t)m->nnz, vectors = (size_t)m->vectors;
  bool hyper = m->form == GRB_HYPERSPARSE;
  *t = (struct grb_result){.form = m->form, .by_column = m->by_column, .vectors = m->vectors};
  t->offsets = grb_allocate(l, (vectors + 1) * 8);
  t->indices = grb_allocate(l, entries * 8);
  t->values = grb_allocate(l, entries * grb_number_size(p->semiring.number));
  if (hyper) t->ids = grb_allocate(l, vectors * 8);
  return t->offsets && t->indices && t->values && (!hyper || t->ids);
}

static struct shunt_sparse pattern_of(const struct grb_product *p)
{
  const struct grb_result *t = &p->t;
  return (struct shunt_sparse){
      .rows = p->m,
      .cols = p->n,
      .vectors = t->vectors,
      .nnz = t->nvals,
      .by_column = t->by_column,
      .ids = t->ids,
      .offsets = t->offsets,
      .indices = t->indices,
      .id_bytes = 8,
      .offset_bytes = 8,
      .index_bytes = 8,
  };
}

static shunt_status run_engine(struct grb_product *p)
{
  const enum shunt_multiplier times = p->semiring.multiplier;
  struct shunt_host_sddmm x = {
      .semiring = grb_semiring_of_kernels(&p->semiring),
      .pattern = pattern_of(p),
      .u = grb_operand_full(&p->a, p->settings.transpose_first, grb_uses_first(times)),
      .v = grb_operand_full(&p->b, p->settings.transpose_second, grb_uses_second(times)),
      .out = p->t.values,
      .threads = p->threads,
  };
  return grb_engine_sddmm(p, &x);
}

/* Does the result replace all of C?  Without accum C's entries outside M stay, unless
   REPLACE clears them or there are none.  */
static bool replaces_all(const struct grb_product *p, bool all_true)
{
  uint64_t nvals;
  if (p->call->accum) return false;
  if (p->settings.replace) return true;
  if (p->c.handle == p->mask.handle) return all_true;
  return p->library->GrB_Matrix_nvals(&nvals, p->c.handle) == GRB_SUCCESS && nvals == 0;
}

/* Do all entries of the mask count? */
static bool all_true(const struct grb_product *p)
{
  return p->settings.structural || p->mask.iso;
}

static struct shunt_verdict choose(struct grb_product *p)
{
  SHUNT_DECLINE_IF(!p->masked || p->settings.complement, SHUNT_R_MASK);
  SHUNT_DECLINE_IF(p->a.form != GRB_FULL || p->b.form != GRB_FULL, SHUNT_R_FORMAT);
  SHUNT_DECLINE_IF(!grb_operand_is_sparse(&p->mask), SHUNT_R_MASK);
  SHUNT_DECLINE_IF(!grb_operand_read(p->library, &p->mask), SHUNT_R_EMPTY);
  SHUNT_DECLINE_IF(!grb_operand_is_sparse(&p->mask), SHUNT_R_MASK);
  SHUNT_DECLINE_IF(p->mask.nnz == 0, SHUNT_R_EMPTY);
  if (!p->settings.structural) {
    GRB_CONTINUE(grb_mask_check_zeros(p));
    size_t size = grb_mask_value_size(p->library, grb_operand_type(p->library, &p->mask));
    SHUNT_DECLINE_IF(size == 0, SHUNT_R_TYPES);
    SHUNT_DECLINE_IF(p->mask.iso && !grb_mask_is_true(p->mask.values, size, 0), SHUNT_R_MASK);
  }
  SHUNT_DECLINE_IF(__builtin_mul_overflow(p->mask.nnz, p->k, &p->work), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(!grb_engine_worth(p->work), SHUNT_R_SMALL);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static void make_pattern(struct grb_product *p)
{
  const struct grb_operand *m = &p->mask;
  if (p->t.ids) copy_integers(p->t.ids, m->ids, m->id_bytes, p->t.vectors, p->threads);
  if (all_true(p))
    copy_pattern(p);
  else
    filter_pattern(p, grb_mask_value_size(p->library, grb_operand_type(p->library, m)));
  if (p->t.ids) drop_empty_vectors(&p->t);
}

static struct shunt_verdict compute(struct grb_product *p)
{
  struct shunt_verdict v = SHUNT_VERDICT(SHUNT_R_FAILED);
  if (allocate_result(p)) {
    make_pattern(p);
    p->t.replaces_all = replaces_all(p, all_true(p));
    if (p->t.nvals == 0)
      v = SHUNT_VERDICT(SHUNT_R_EMPTY);
    else if (run_engine(p) == SHUNT_OK)
      v = SHUNT_VERDICT(SHUNT_FITS);
  }
  if (v.reason != SHUNT_FITS) grb_result_release(p);
  return v;
}

const struct grb_method grb_sddmm = {choose, compute};
