/* bsr: A in square blocks, BSR or Blocked-ELL, read in place (kernels/bsr/bsr_spmm.cu).  Direct:
   no state, right on the first call.  */
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/routes.h"
#include "kernels/bsr/bsr_kernels.h"

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  SHUNT_DECLINE_IF(shunt_bsr_spmm_check(&p->spmm, &p->blocks) != SHUNT_OK, SHUNT_R_TYPES);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  return shunt_bsr_spmm_workspace(&p->spmm);
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  *us = shunt_cost_bsr(&p->spmm, &p->blocks, &c->context->machine);
  SHUNT_DECLINE_IF(c->workspace_bytes < workspace(p, c->context), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF((uintptr_t)p->spmm.a.values % SHUNT_BSR_ALIGNMENT != 0, SHUNT_R_SHAPE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static shunt_status run(const struct shunt_call *c)
{
  return SHUNT_LAUNCH(shunt_bsr_spmm_cuda(&c->problem->spmm, &c->problem->blocks,
                                          &c->context->device, c->workspace, c->workspace_bytes,
                                          c->stream));
}

const struct shunt_route shunt_route_bsr = {.name = "bsr",
                                            .fits = fits,
                                            .workspace = workspace,
                                            .expect = expect,
                                            .run = run,
                                            .takes_blocks = true};
