#include "backend/routes/csr_transposed.h"

#include <math.h>

#include "backend/plan/cache.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/keep_measures.h"
#include "backend/routes/routes.h"
#include "conv/csr/csr_conv.h"
#include "kernels/common/alignment.h"
#include "kernels/guard/fingerprint.h"
#include "kernels/guard/guard.h"

_Static_assert(sizeof(uint32_t) <= SHUNT_PACKED_MEASURES, "the measure fits");

/* ---- workspace ---------------------------------------------------------------------------- */

struct parts {
  size_t matrix, product, total;
};

/* op(A) by rows, without arrays. */
static struct shunt_spmm turned(const struct shunt_spmm *s)
{
  struct shunt_spmm t = *s;
  t.a = shunt_transposed_csr(&s->a, NULL, NULL);
  return t;
}

static struct parts parts_of(const struct shunt_problem *p, const struct shunt_context *context)
{
  const struct shunt_spmm t = turned(&p->spmm);
  struct parts l = {.matrix = shunt_align_up(SHUNT_FINGERPRINT_SCRATCH, 256)};
  l.product = l.matrix + shunt_transposed_bytes(&p->spmm.a, false);
  l.total = l.product + shunt_route_csr_spmm_workspace(&t, &context->device);
  return l;
}

static void *at(const struct shunt_call *c, size_t offset)
{
  return (char *)c->workspace + offset;
}

/* ---- questions ---------------------------------------------------------------------------- */

struct shunt_outcome shunt_csr_transposed_fits(const struct shunt_problem *p,
                                               const struct shunt_context *context)
{
  SHUNT_DECLINE_IF(shunt_transposed_bytes(&p->spmm.a, true) == 0, SHUNT_R_LARGE);
  SHUNT_DECLINE_IF((double)parts_of(p, context).total > (double)context->memory_bytes / 16,
                   SHUNT_R_LARGE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

size_t shunt_csr_transposed_workspace(const struct shunt_problem *p,
                                      const struct shunt_context *context)
{
  return parts_of(p, context).total;
}

/* -1: nobody has counted. */
static int64_t longest_of(const struct shunt_call *c)
{
  return c->packed && c->packed->known ? (int64_t) * (const uint32_t *)c->packed->known : -1;
}

/* Without a copy the transpose is made in the call: for those who want the same bits from the first
   call on, and for those who do not ask what a way takes. */
static bool may_be_direct(const struct shunt_call *c)
{
  return c->problem->deterministic || c->forced;
}

static double expected_us(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_machine *m = &c->context->machine;
  const bool kept = c->packed || c->will_pack;
  const bool proved = kept && !c->frozen && !(c->packed && c->packed->pattern_stands);
  double us = shunt_cost_csr_transposed(s, longest_of(c), proved, m);
  if (!kept) us += shunt_cost_csr_transposing(&s->a, m);
  return us;
}

struct shunt_outcome shunt_csr_transposed_expect(const struct shunt_call *c, double *us)
{
  *us = expected_us(c);
  SHUNT_DECLINE_IF(!c->packed && !c->will_pack && !may_be_direct(c), SHUNT_R_UNCONVERTED);
  SHUNT_DECLINE_IF(c->workspace_bytes < parts_of(c->problem, c->context).total, SHUNT_R_WORKSPACE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* ---- running ------------------------------------------------------------------------------ */

/* A problem that conjugates is one of complex types (shunt_plan_settle). */
static bool conjugates(const struct shunt_call *c)
{
  return c->problem->op_a == 'H';
}

/* Fills *out from the copy; *pattern: whose pattern the product is to read. */
static shunt_status refresh(const struct shunt_call *c, const struct shunt_transposed *out,
                            struct shunt_transposed *pattern)
{
  const struct shunt_device *d = &c->context->device;
  const struct shunt_csr *a = &c->problem->spmm.a;
  const bool stands = c->packed->pattern_stands || c->packed->trusted;
  const struct shunt_transpose_proof proof = {c->workspace, c->packed->fingerprint,
                                              c->packed->changed};
  struct shunt_transposed kept;
  if (!shunt_transposed_lay_out(a, true, c->packed->payload, &kept)) return SHUNT_E_UNSUPPORTED;
  *pattern = stands ? kept : *out;
  return SHUNT_LAUNCH(shunt_transposed_refresh_cuda(a, conjugates(c), &kept, stands ? NULL : &proof,
                                                    out, d, c->stream));
}

shunt_status shunt_csr_transposed_run(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->context->device;
  const struct parts l = parts_of(c->problem, c->context);
  struct shunt_spmm s = c->problem->spmm;
  struct shunt_transposed out, pattern;
  shunt_status r = SHUNT_OK;
  if (!c->packed && !may_be_direct(c)) return SHUNT_E_UNSUPPORTED; /* no memory for a copy */
  if (!shunt_transposed_lay_out(&s.a, false, at(c, l.matrix), &out)) return SHUNT_E_UNSUPPORTED;
  pattern = out;
  if (c->packed)
    r = refresh(c, &out, &pattern);
  else
    r = SHUNT_LAUNCH(shunt_csr_transpose_cuda(&s.a, conjugates(c), &out, d, c->stream));
  s.a = shunt_transposed_csr(&s.a, &pattern, out.values);
  const struct shunt_profile known = {
      .rows = s.a.rows, .cols = s.a.cols, .nnz = s.a.nnz, .longest_row = longest_of(c)};
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_route_csr_spmm(&s, known.longest_row < 0 ? NULL : &known,
                                          &c->context->machine, at(c, l.product),
                                          l.total - l.product, c->stream));
  shunt_copy_note(c, r == SHUNT_OK ? SHUNT_COPY_USED : SHUNT_COPY_TOUCHED);
  return r;
}

/* ---- keeping ------------------------------------------------------------------------------ */

static bool gains(const struct shunt_call *c)
{
  const struct shunt_machine *m = &c->context->machine;
  const double made = shunt_cost_csr_transposing(&c->problem->spmm.a, m);
  const double us = shunt_cost_csr_transposed(&c->problem->spmm, longest_of(c), !c->frozen, m);
  return us + made / SHUNT_GAINED_WITHIN < shunt_cost_original(c->problem, c->profile, m);
}

size_t shunt_csr_transposed_pack_bytes(const struct shunt_call *c)
{
  const struct shunt_problem *p = c->problem;
  if (shunt_csr_transposed_fits(p, c->context).reason != SHUNT_FITS || c->no_copies) return 0;
  if (c->workspace_bytes < parts_of(p, c->context).total) return 0;
  if (!c->forced && !gains(c)) return 0;
  return shunt_transposed_bytes(&p->spmm.a, true);
}

shunt_status shunt_csr_transposed_pack(const struct shunt_call *c,
                                       const struct shunt_packed_view *into)
{
  const struct shunt_device *d = &c->context->device;
  const struct shunt_csr *a = &c->problem->spmm.a, pattern = shunt_fp_pattern_of(a);
  struct shunt_transposed kept;
  if (!shunt_transposed_lay_out(a, true, into->payload, &kept)) return SHUNT_E_UNSUPPORTED;
  shunt_status r = SHUNT_LAUNCH(shunt_csr_transpose_cuda(a, false, &kept, d, c->stream));
  r = shunt_keep_measures(c, into, r, &kept.words->longest, sizeof kept.words->longest);
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(
        shunt_fingerprint_csr_cuda(&pattern, into->fingerprint, d, c->workspace, c->stream));
  return r;
}
