/* sddmm.c: C<M> = accum (C, U * V) with full U and V and a sparse mask: a dot product for each
   entry of M that counts.

   T has the pattern of M, without the entries whose value is false if the mask is
   not structural.  */
#include "backend/graphblas/commit.h"
#include "backend/graphblas/engine.h"
#include "backend/graphblas/mask.h"
#include "backend/graphblas/memory.h"
#include "backend/plan/fault.h"

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

/* Without the pattern and the place of the result. */
static struct shunt_host_sddmm operands(const struct grb_product *p)
{
  const enum shunt_multiplier times = p->semiring.multiplier;
  return (struct shunt_host_sddmm){
      .semiring = grb_semiring_of_kernels(&p->semiring),
      .u = grb_operand_full(&p->a, p->settings.transpose_first, grb_uses_first(times)),
      .v = grb_operand_full(&p->b, p->settings.transpose_second, grb_uses_second(times)),
      .threads = p->threads,
  };
}

static shunt_status run_engine(struct grb_product *p)
{
  struct shunt_host_sddmm x = operands(p);
  x.pattern = pattern_of(p);
  x.out = p->t.values;
  return grb_engine_sddmm(p, &x);
}

static struct shunt_outcome choose(struct grb_product *p)
{
  SHUNT_DECLINE_IF(!p->masked || p->settings.complement, SHUNT_R_MASK);
  SHUNT_DECLINE_IF(p->a.form != GRB_FULL || p->b.form != GRB_FULL, SHUNT_R_FORMAT);
  GRB_CONTINUE(grb_mask_read_sparse(p));
  SHUNT_DECLINE_IF(__builtin_mul_overflow(p->mask.nnz, p->k, &p->work), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(!grb_engine_worth(p->work), SHUNT_R_SMALL);
  const struct shunt_host_sddmm x = operands(p);
  p->gain = grb_gain_sddmm(&x, p->mask.nnz);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static struct shunt_outcome compute(struct grb_product *p)
{
  struct shunt_outcome v = SHUNT_OUTCOME(SHUNT_R_FAILED);
  if (allocate_result(p)) {
    grb_mask_pattern(p);
    p->t.replaces_all = grb_mask_replaces_all(p);
    const shunt_status status = p->t.nvals == 0 ? SHUNT_E_INPUT : run_engine(p);
    if (p->t.nvals == 0)
      v = SHUNT_OUTCOME(SHUNT_R_EMPTY);
    else if (status == SHUNT_OK)
      v = SHUNT_OUTCOME(SHUNT_FITS);
    else
      v = SHUNT_OUTCOME(grb_engine_reason(status, SHUNT_R_SEMIRING));
  }
  if (v.reason != SHUNT_FITS) grb_result_release(p);
  return v;
}

const struct grb_method grb_sddmm = {choose, compute};
