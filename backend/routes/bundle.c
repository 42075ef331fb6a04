/* bundle: rows of A taken by eights, each row of B loaded once for all of them that need it
   (kernels/bundle/bundle_kernels.h).  A is read in place, as it is; what is kept is a hint of
   which columns the eights have, which the kernel checks as it goes, so it needs no proof.

   For matrices of finite elements, and layers of bands and blocks: neighbouring rows share many
   columns, but seldom all of them, as `vector` wants it.  How much they share is known once the
   hint is made:

     call 1     a profile is asked for
     call 2     by the profile it may be worth a try: the hint is made, but not used
     later      the hint's counts are there and decide between this route and `csr`

   Kept, payload: the lists of kernels/bundle/bundle_format.h.  Measures: their counts.  */
#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/keep_measures.h"
#include "backend/routes/routes.h"
#include "backend/routes/rows_of_c.h"
#include "conv/bundle/bundle_conv.h"
#include "kernels/bundle/bundle_kernels.h"

_Static_assert(sizeof(struct shunt_bundle_counts) <= SHUNT_PACKED_MEASURES, "the counts fit");

/* How many rows of A a row of B serves, as assumed until the hint is there.  Whether the hint is
   made at all depends on it; in finite elements it is up to 5.3. */
#define SHARING_HOPED_FOR 5.0

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  SHUNT_DECLINE_IF(p->op != SHUNT_SPMM, SHUNT_R_PATTERN);
  const struct shunt_spmm *s = &p->spmm;
  const shunt_type t = s->a.value_type;
  SHUNT_DECLINE_IF(t != SHUNT_F32 && t != SHUNT_F64, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(s->b.type != t || s->c.type != t || s->compute != t, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(shunt_bundle_bytes(&s->a) == 0, SHUNT_R_LARGE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* Without W.  Asked for even where none is needed: a null buffer is the original's to refuse. */
static size_t least_workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  const size_t bytes = shunt_bundle_spmm_workspace(&p->spmm);
  return bytes ? bytes : 256;
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  return shunt_rows_of_c_bytes(&p->spmm, SHUNT_ROWS_AS_STORED) + least_workspace(p, context);
}

static size_t pack_bytes(const struct shunt_call *c)
{
  const bool fit = fits(c->problem, c->context).reason == SHUNT_FITS;
  return fit ? shunt_bundle_bytes(&c->problem->spmm.a) : 0;
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_bundle_counts *known = c->packed ? c->packed->known : NULL;
  const double vectors = known ? (double)known->vectors : (double)s->a.nnz / SHARING_HOPED_FOR;
  const double longest = known ? known->longest : c->profile ? (double)c->profile->longest_row : 0;
  *us = shunt_cost_bundle_margin(&s->a) *
        shunt_cost_bundle(s, c->profile, vectors, longest, &c->context->machine);
  SHUNT_DECLINE_IF(!c->packed && !c->will_pack, SHUNT_R_UNCONVERTED);
  SHUNT_DECLINE_IF(c->workspace_bytes < least_workspace(c->problem, c->context), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  SHUNT_DECLINE_IF(!shunt_choose_bundle_candidate(&s->a, c->profile), SHUNT_R_PATTERN);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static shunt_status multiply(const struct shunt_call *c, const struct shunt_bundle *hint)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_device *d = &c->context->device;
  const struct shunt_rows_of_c w = shunt_rows_of_c_begin(
      s, SHUNT_ROWS_AS_STORED, shunt_bundle_spmm_workspace(s), c->workspace, c->workspace_bytes);
  const struct shunt_bundle_shape shape =
      shunt_bundle_spmm_shape(&w.product, hint, c->packed->known, d);
  const shunt_status made = shunt_bundle_spmm_cuda(&w.product, hint, &shape, d, w.workspace,
                                                   w.workspace_bytes, c->stream);
  return shunt_rows_of_c_end(s, &w, made, d, c->stream);
}

static shunt_status run(const struct shunt_call *c)
{
  struct shunt_bundle hint;
  if (!c->packed || !shunt_bundle_lay_out(&c->problem->spmm.a, c->packed->payload, &hint))
    return SHUNT_E_UNSUPPORTED; /* there was no memory for it */
  hint.stale = c->packed->changed;
  const shunt_status r = SHUNT_LAUNCH(multiply(c, &hint));
  shunt_copy_note(c, r == SHUNT_OK ? SHUNT_COPY_USED : SHUNT_COPY_TOUCHED);
  return r;
}

static shunt_status pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  struct shunt_bundle hint;
  if (!shunt_bundle_lay_out(a, into->payload, &hint)) return SHUNT_E_UNSUPPORTED;
  const struct shunt_device *d = &c->context->device;
  const shunt_status made = SHUNT_LAUNCH(shunt_csr_to_bundle_cuda(a, &hint, d, c->stream));
  return shunt_keep_measures(c, into, made, hint.counts, sizeof *hint.counts);
}

const struct shunt_route shunt_route_bundle = {.name = "bundle",
                                               .fits = fits,
                                               .workspace = workspace,
                                               .least_workspace = least_workspace,
                                               .expect = expect,
                                               .run = run,
                                               .pack_bytes = pack_bytes,
                                               .pack = pack,
                                               .keeps_hint = true,
                                               .awaits_measures = true};
