/* masked_dot.c: C<M> = accum (C, A * B) with sparse A, B and M: a dot product of two sparse rows
   for each entry of M that counts, or rows of op(B) added up (kernels/semiring/masked/masked.h).

   T exists where M does and row i of A meets column j of B.  With M by row the kernel wants rows of
   op(A) and of op(B)'; with M by column all is transposed, rows of op(B)' come first, and FIRST and
   SECOND change places.  */
#include <string.h>

#include "backend/graphblas/commit.h"
#include "backend/graphblas/engine.h"
#include "backend/graphblas/mask.h"
#include "backend/graphblas/masked_cost.h"
#include "backend/graphblas/memory.h"
#include "backend/options/options.h"
#include "backend/plan/fault.h"
#include "kernels/semiring/semiring_team.h"

/* ---- the product as the kernel sees it ------------------------------------------------------- */

/* The entries of M that count, as rows: M's own arrays, or those in p->t. */
static struct shunt_sparse pattern(const struct grb_product *p)
{
  const struct grb_result *t = &p->t;
  struct shunt_sparse m = grb_operand_sparse(&p->mask, p->mask.by_column, false);
  if (!t->indices) return m;
  m.vectors = t->vectors;
  m.nnz = t->nvals;
  m.ids = t->ids, m.offsets = t->offsets, m.indices = t->indices;
  m.id_bytes = m.offset_bytes = m.index_bytes = 8;
  return m;
}

/* What counts of a valued mask is no matrix. */
static struct grb_masked_sources sources(const struct grb_product *p)
{
  const bool turned = p->mask.by_column;
  struct grb_masked_sources from = {.a = grb_product_source(p, turned ? &p->b : &p->a),
                                    .b = grb_product_source(p, turned ? &p->a : &p->b)};
  if (grb_mask_is_whole(p)) from.m = grb_product_source(p, &p->mask);
  return from;
}

static struct shunt_masked_dot product(const struct grb_product *p)
{
  const bool ta = p->settings.transpose_first, tb = p->settings.transpose_second;
  const enum shunt_multiplier times = p->semiring.multiplier;
  const struct shunt_sparse a = grb_operand_sparse(&p->a, ta, grb_uses_first(times));
  const struct shunt_sparse b = grb_operand_sparse(&p->b, !tb, grb_uses_second(times));
  const bool turned = p->mask.by_column;
  struct shunt_masked_dot x = {.semiring = grb_semiring_of_kernels(&p->semiring),
                               .m = pattern(p),
                               .a = turned ? b : a,
                               .b = turned ? a : b,
                               .threads = p->threads,
                               .saxpy = p->saxpy};
  if (turned) x.semiring.multiplier = grb_exchanged(times);
  return x;
}

/* ---- the decision ---------------------------------------------------------------------------- */

static const double worth_it = 1.2; /* what is less may be a loss */

/* What is a step of searches, too, GraphBLAS may do faster than other products. */
static struct grb_masked_cost cost_of(const struct grb_product *p, const struct shunt_masked_dot *x,
                                      const struct grb_masked_counts *n)
{
  struct grb_masked_cost cost = grb_masked_cost(x, n);
  if (p->step > 0 && p->step < cost.original) cost.original = p->step;
  return cost;
}

/* Is ours slower even if dot products read nothing?  Where GraphBLAS adds up rows, reads say
   nothing of it, so they need not be counted then.  */
static bool is_hopeless(const struct grb_masked_counts *n, const struct grb_masked_cost *cost)
{
  const double host = cost->saxpy < cost->dot ? cost->saxpy : cost->dot;
  return n->has_terms && cost->original < worth_it * host && !grb_engine_forced();
}

static struct shunt_outcome choose(struct grb_product *p)
{
  SHUNT_DECLINE_IF(p->settings.complement, SHUNT_R_MASK);
  GRB_CONTINUE(grb_mask_read_sparse(p));
  const struct shunt_masked_dot x = product(p);
  struct grb_masked_counts n = grb_masked_count(&x);
  struct grb_masked_cost cost = cost_of(p, &x, &n);
  SHUNT_DECLINE_IF(is_hopeless(&n, &cost), SHUNT_R_SLOWER);
  grb_masked_count_reads(&x, &n);
  cost = cost_of(p, &x, &n);
  const double host = cost.saxpy < cost.dot ? cost.saxpy : cost.dot;
  p->saxpy = cost.saxpy < cost.dot;
  p->alone = host;
  p->work = (int64_t)(p->saxpy ? n.terms.offered : n.reads.scanned);
  p->gain = grb_gain_masked_dot(cost.original, host, p->work, p->threads);
  const struct grb_masked_sources from = sources(p);
  const double otherwise = 1e-9 * (host < cost.original ? host : cost.original) / p->threads;
  p->cuda = grb_engine_masked_on_gpu(&x, &from, n.reads.scanned, otherwise);
  if (p->cuda || grb_engine_forced()) return SHUNT_OUTCOME(SHUNT_FITS);
  SHUNT_DECLINE_IF(!grb_engine_worth(p->work), SHUNT_R_SMALL);
  SHUNT_DECLINE_IF(cost.original < worth_it * host, SHUNT_R_SLOWER);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* ---- the result ------------------------------------------------------------------------------ */

static uint64_t *allocate_integers(const struct grb_product *p, int64_t n)
{
  return grb_allocate(p->library, (size_t)n * sizeof(uint64_t));
}

/* A valued mask's entries that count, into p->t. */
static bool make_pattern(struct grb_product *p)
{
  struct grb_result *t = &p->t;
  const struct grb_operand *m = &p->mask;
  t->vectors = m->vectors;
  if (grb_mask_is_whole(p)) return true;
  t->offsets = allocate_integers(p, m->vectors + 1);
  t->indices = allocate_integers(p, m->nnz);
  if (m->ids) t->ids = allocate_integers(p, m->vectors);
  if (!t->offsets || !t->indices || (m->ids && !t->ids)) return false;
  grb_mask_pattern(p);
  return true;
}

/* T's arrays, filled from an engine's work; on failure some of them, and the work is gone. */
static bool take_result(struct grb_product *p, const struct shunt_masked_dot *x, uint64_t *offsets,
                        struct grb_masked_work *work, struct grb_result *t)
{
  const struct shunt_sparse *m = &x->m;
  const int64_t n = (int64_t)offsets[m->vectors];
  const bool iso = shunt_masked_dot_uniform(x);
  const size_t bytes = (size_t)(iso ? 1 : n) * grb_number_size(p->semiring.number);
  *t = (struct grb_result){.form = m->ids ? GRB_HYPERSPARSE : GRB_SPARSE,
                           .by_column = p->mask.by_column,
                           .iso = iso,
                           .vectors = m->vectors,
                           .nvals = n,
                           .offsets = offsets};
  t->indices = allocate_integers(p, n);
  t->values = grb_allocate(p->library, bytes);
  if (m->ids) t->ids = allocate_integers(p, m->vectors);
  bool good = t->indices && t->values && (!m->ids || t->ids);
  if (grb_engine_masked_finish(work, good ? t->indices : NULL, t->values) != SHUNT_OK) good = false;
  for (int64_t v = 0; good && m->ids && v < m->vectors; v++)
    t->ids[v] = m->id_bytes == 8 ? ((const uint64_t *)m->ids)[v] : ((const uint32_t *)m->ids)[v];
  return good;
}

/* What else the kernels do not take has next to no entries. */
static bool too_large(const struct shunt_masked_dot *x)
{
  return x->a.rows >= INT32_MAX || x->a.cols >= INT32_MAX || x->b.rows >= INT32_MAX;
}

/* T by one engine, into *t; on failure *t holds what there is of it. */
static struct shunt_outcome multiply_by(struct grb_product *p, const struct shunt_masked_dot *x,
                                        struct grb_result *t)
{
  struct grb_masked_work work;
  const struct grb_masked_sources from = sources(p);
  uint64_t *offsets = allocate_integers(p, x->m.vectors + 1);
  *t = (struct grb_result){.offsets = offsets};
  SHUNT_DECLINE_IF(!offsets, SHUNT_R_FAILED);
  const shunt_status status = grb_engine_masked_dot(p, x, &from, offsets, &work);
  const enum shunt_reason unsupported = too_large(x) ? SHUNT_R_LARGE : SHUNT_R_SPARSE;
  SHUNT_DECLINE_IF(status != SHUNT_OK, grb_engine_reason(status, unsupported));
  SHUNT_DECLINE_IF(!take_result(p, x, offsets, &work, t), SHUNT_R_FAILED);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* What the GPU fails at is the host's, unless the user has switched that off. */
static struct shunt_outcome multiply(struct grb_product *p)
{
  struct grb_result t;
  const struct shunt_masked_dot x = product(p);
  SHUNT_DECLINE_IF(x.m.nnz == 0, SHUNT_R_EMPTY);
  struct shunt_outcome v = multiply_by(p, &x, &t);
  if (v.reason != SHUNT_FITS && p->cuda && (shunt_options()->engines & SHUNT_ENGINE_HOST)) {
    grb_arrays_release(p->library, &t);
    p->cuda = false;
    v = multiply_by(p, &x, &t);
  }
  grb_result_release(p); /* the pattern */
  p->t = t;
  if (v.reason != SHUNT_FITS) return v;
  if (p->t.ids) grb_mask_drop_empty_vectors(&p->t);
  p->t.replaces_all = grb_mask_replaces_all(p);
  return v;
}

struct job {
  struct grb_product *p;
  struct shunt_outcome outcome;
};

static void drive(void *job)
{
  struct job *j = job;
  j->outcome = SHUNT_OUTCOME(SHUNT_R_FAILED);
  if (make_pattern(j->p)) j->outcome = multiply(j->p);
}

/* On the host in one parallel region, if the product is worth other threads. */
static struct shunt_outcome compute(struct grb_product *p)
{
  const int wanted = p->threads;
  struct job j = {.p = p};
  if (!p->cuda) p->threads = shunt_team_threads(wanted, p->alone);
  shunt_team_run(p->cuda ? 1 : p->threads, drive, &j);
  p->threads = wanted; /* as the log has it */
  if (j.outcome.reason != SHUNT_FITS) grb_result_release(p);
  return j.outcome;
}

const struct grb_method grb_masked_dot = {choose, compute};
