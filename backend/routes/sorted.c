/* sorted: rows of A by their lengths, the longest first (kernels/sorted/sorted_kernels.h).  A is
   read in place, as it is; what is kept is an order of its rows.  Any order is right, so it needs
   no proof.

   For graphs, circuits and other matrices whose rows differ in length: rows of like lengths are
   taken side by side, and long ones by blocks and clusters.

     call 1     a profile is asked for
     call 2     by the profile it is worth it: rows are sorted, behind the product
     later      the counts of lengths are there, and the product is cut by them

   Kept, payload: kernels/sorted/sorted_format.h.  Measures: its counts.  */
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/keep_measures.h"
#include "backend/routes/routes.h"
#include "backend/routes/rows_of_c.h"
#include "conv/sorted/sorted_conv.h"
#include "kernels/sorted/sorted_kernels.h"

_Static_assert(sizeof(struct shunt_sorted_counts) <= SHUNT_PACKED_MEASURES, "the counts fit");

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  SHUNT_DECLINE_IF(p->op != SHUNT_SPMM, SHUNT_R_PATTERN);
  const shunt_type t = p->spmm.a.value_type;
  SHUNT_DECLINE_IF(t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32 && t != SHUNT_F64,
                   SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(p->spmm.b.type != t, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(shunt_sorted_bytes(&p->spmm.a) == 0, SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(!shunt_sorted_spmm_fits(&p->spmm), SHUNT_R_SHAPE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* Without W.  Asked for even where none is needed: a null buffer is the original's to refuse. */
static size_t least_workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  const size_t bytes = shunt_sorted_spmm_workspace(&p->spmm);
  return bytes ? bytes : 256;
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  return shunt_rows_of_c_bytes(&p->spmm, SHUNT_ROWS_BY_LENGTH) + least_workspace(p, context);
}

static size_t pack_bytes(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  if (fits(c->problem, c->context).reason != SHUNT_FITS) return 0;
  if (!c->forced && !shunt_choose_sorted_candidate(s, c->profile)) return 0;
  return shunt_sorted_bytes(&s->a);
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  SHUNT_DECLINE_IF(!c->packed && !c->will_pack, SHUNT_R_UNCONVERTED);
  SHUNT_DECLINE_IF(c->workspace_bytes < least_workspace(c->problem, c->context), SHUNT_R_WORKSPACE);
  *us = shunt_cost_sorted(s, c->profile,
                          &c->context->machine); /* lines of a layer, which take long */
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  SHUNT_DECLINE_IF(!shunt_choose_sorted_candidate(s, c->profile), SHUNT_R_PATTERN);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static shunt_status multiply(const struct shunt_call *c, const struct shunt_sorted *v)
{
  static const struct shunt_sorted_counts nothing = {{0}};
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_device *d = &c->context->device;
  const struct shunt_sorted_counts *known = c->packed->known ? c->packed->known : &nothing;
  const struct shunt_sorted_shape shape = shunt_sorted_spmm_shape(s, known, d);
  const struct shunt_rows_of_c w = shunt_rows_of_c_begin(
      s, SHUNT_ROWS_BY_LENGTH, shunt_sorted_spmm_workspace(s), c->workspace, c->workspace_bytes);
  const shunt_status made = shunt_sorted_spmm_cuda(&w.product, v, known, &shape, d, w.workspace,
                                                   w.workspace_bytes, c->stream);
  return shunt_rows_of_c_end(s, &w, made, d, c->stream);
}

static shunt_status run(const struct shunt_call *c)
{
  struct shunt_sorted v;
  if (!c->packed || !shunt_sorted_lay_out(&c->problem->spmm.a, c->packed->payload, &v))
    return SHUNT_E_UNSUPPORTED; /* there was no memory for it */
  v.stale = c->packed->changed;
  const shunt_status r = SHUNT_LAUNCH(multiply(c, &v));
  shunt_copy_note(c, r == SHUNT_OK ? SHUNT_COPY_USED : SHUNT_COPY_TOUCHED);
  return r;
}

static shunt_status pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  struct shunt_sorted v;
  if (!shunt_sorted_lay_out(a, into->payload, &v)) return SHUNT_E_UNSUPPORTED;
  const struct shunt_device *d = &c->context->device;
  const shunt_status made = SHUNT_LAUNCH(shunt_csr_to_sorted_cuda(a, &v, d, c->stream));
  return shunt_keep_measures(c, into, made, v.counts, sizeof *v.counts);
}

const struct shunt_route shunt_route_sorted = {.name = "sorted",
                                               .fits = fits,
                                               .workspace = workspace,
                                               .least_workspace = least_workspace,
                                               .expect = expect,
                                               .run = run,
                                               .pack_bytes = pack_bytes,
                                               .pack = pack,
                                               .packs_by_profile = true,
                                               .keeps_hint = true,
                                               .awaits_measures = true};
