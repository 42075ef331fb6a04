/* csr: any CSR matrix, split by nonzeros (kernels/csr/csr_spmm.cu,
   kernels/csr/csr_sddmm_rows.cu).  Direct: no state, right on the first call; but where op(A)
   is the transpose of what is stored (csr_transposed.h).  */
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/csr_transposed.h"
#include "backend/routes/routes.h"
#include "backend/routes/rows_of_c.h"
#include "kernels/csr/csr_kernels.h"

static shunt_status multiply(const struct shunt_spmm *p, const struct shunt_profile *f,
                             const struct shunt_machine *m, void *workspace, size_t workspace_bytes,
                             shunt_stream stream)
{
  const struct shunt_device *d = &m->device;
  if (!shunt_choose_csr_merge(p, f, m)) {
    shunt_status s = shunt_csr_spmm_split_cuda(p, f ? f->longest_row : -1, d, workspace,
                                               workspace_bytes, stream);
    if (s != SHUNT_E_UNSUPPORTED) return s;
  }
  return shunt_csr_spmm_merge_cuda(p, d, workspace, workspace_bytes, stream);
}

size_t shunt_route_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d)
{
  const size_t own = shunt_csr_spmm_workspace(p, d);
  return own ? shunt_rows_of_c_bytes(p, SHUNT_ROWS_AS_STORED) + own : 0;
}

shunt_status shunt_route_csr_spmm(const struct shunt_spmm *p, const struct shunt_profile *f,
                                  const struct shunt_machine *m, void *workspace,
                                  size_t workspace_bytes, shunt_stream stream)
{
  const struct shunt_device *d = &m->device;
  const size_t own = shunt_csr_spmm_workspace(p, d);
  const struct shunt_rows_of_c r =
      shunt_rows_of_c_begin(p, SHUNT_ROWS_AS_STORED, own, workspace, workspace_bytes);
  const shunt_status made = multiply(&r.product, f, m, r.workspace, r.workspace_bytes, stream);
  return shunt_rows_of_c_end(p, &r, made, d, stream);
}

shunt_status shunt_route_csr_sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                                   const struct shunt_device *d, void *workspace,
                                   size_t workspace_bytes, shunt_stream stream)
{
  return shunt_csr_sddmm_cuda(p, shunt_choose_csr_sddmm(f), d, workspace, workspace_bytes, stream);
}

static shunt_status run(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->context->device;
  if (shunt_problem_transposed(c->problem)) return shunt_csr_transposed_run(c);
  if (c->problem->op == SHUNT_SPMM)
    return SHUNT_LAUNCH(shunt_route_csr_spmm(&c->problem->spmm, c->profile, &c->context->machine,
                                             c->workspace, c->workspace_bytes, c->stream));
  return SHUNT_LAUNCH(shunt_route_csr_sddmm(&c->problem->sddmm, c->profile, d, c->workspace,
                                            c->workspace_bytes, c->stream));
}

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  if (shunt_problem_transposed(p)) return shunt_csr_transposed_fits(p, context);
  /* shunt_problem_check has asked everything else.  An extended product must not fail later. */
  SHUNT_DECLINE_IF(p->extended && p->op == SHUNT_SPMM &&
                       shunt_csr_spmm_workspace(&p->spmm, &context->device) == 0,
                   SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(p->extended && p->op == SHUNT_SDDMM && !shunt_csr_sddmm_fits(&p->sddmm),
                   SHUNT_R_LARGE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* Without W.  One launch for small SDDMM needs none: a null buffer is the original's to refuse. */
static size_t without_w(const struct shunt_problem *p, const struct shunt_context *context)
{
  if (shunt_problem_transposed(p)) return shunt_csr_transposed_workspace(p, context);
  if (p->op == SHUNT_SPMM) return shunt_csr_spmm_workspace(&p->spmm, &context->device);
  return shunt_csr_sddmm_direct(&p->sddmm) ? 1
                                           : shunt_csr_sddmm_workspace(&p->sddmm, &context->device);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  if (p->op == SHUNT_SPMM && !shunt_problem_transposed(p))
    return shunt_route_csr_spmm_workspace(&p->spmm, &context->device);
  return without_w(p, context);
}

/* Does the split kernel need none?  (kernels/csr/csr_kernels.h.) */
static bool can_do_without(const struct shunt_problem *p)
{
  const int64_t most = (int64_t)1 << 30;
  const struct shunt_spmm *s = &p->spmm;
  return p->op == SHUNT_SPMM && !p->extended && !shunt_problem_transposed(p) &&
         s->b.col_stride == 1 && s->a.value_type == s->b.type && s->a.rows < most &&
         s->a.nnz < most;
}

/* Asked for even where one launch needs none: a null buffer is the original's to refuse. */
static size_t least_workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  const size_t whole = without_w(p, context);
  return can_do_without(p) && whole > 1 ? 1 : whole;
}

static bool has_workspace(const struct shunt_call *c)
{
  const struct shunt_problem *p = c->problem;
  if (c->workspace_bytes >= without_w(p, c->context)) return true;
  return c->workspace && can_do_without(p) &&
         !shunt_choose_csr_merge(&p->spmm, c->profile, &c->context->machine);
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_machine *m = &c->context->machine;
  if (shunt_problem_transposed(p)) return shunt_csr_transposed_expect(c, us);
  if (p->op == SHUNT_SPMM)
    *us = c->csr_us > 0 ? c->csr_us : shunt_cost_csr(&p->spmm, c->profile, m);
  else
    *us = shunt_cost_csr_sddmm(&p->sddmm, c->profile, m);
  if (p->op == SHUNT_SDDMM && !c->capturing)
    *us = shunt_cost_sddmm_enqueued(*us, workspace(p, c->context) > 1, m);
  SHUNT_DECLINE_IF(!has_workspace(c), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(p->op == SHUNT_SPMM && !p->extended &&
                       shunt_choose_original_over_csr(p, c->profile),
                   SHUNT_R_PATTERN);
  SHUNT_DECLINE_IF(p->op == SHUNT_SDDMM &&
                       shunt_choose_original_over_csr_sddmm(&p->sddmm, c->profile),
                   SHUNT_R_PATTERN);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static size_t pack_bytes(const struct shunt_call *c)
{
  return shunt_problem_transposed(c->problem) ? shunt_csr_transposed_pack_bytes(c) : 0;
}

const struct shunt_route shunt_route_csr = {.name = "csr",
                                            .fits = fits,
                                            .workspace = workspace,
                                            .least_workspace = least_workspace,
                                            .expect = expect,
                                            .run = run,
                                            .pack_bytes = pack_bytes,
                                            .pack = shunt_csr_transposed_pack,
                                            .awaits_measures = true,
                                            .takes_transposed = true,
                                            .takes_sddmm = true,
                                            .takes_brief = true,
                                            .takes_long = true,
                                            .takes_extended = true};
