/* vector: aligned groups of 8, 4 or 2 rows with equal column lists, multiplied as
   column vectors on the tensor cores straight from CSR (kernels/
   spmm_csr_vector.cu, kernels/sddmm_csr_vector.cu).  Direct: groups are compared
   as they are read, and one that differs goes row by row in the same launch; so
   the profile is only what makes it worth trying.  */
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/routes/routes.h"

static shunt_status run(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->engine->device;
  if (c->problem->op == SHUNT_SPMM)
    return SHUNT_LAUNCH(shunt_spmm_csr_vector_cuda(&c->problem->spmm, d, c->workspace,
                                                   c->workspace_bytes, c->stream));
  return SHUNT_LAUNCH(shunt_sddmm_csr_vector_cuda(&c->problem->sddmm, d, c->workspace,
                                                  c->workspace_bytes, c->stream));
}

static struct shunt_verdict fits(const struct shunt_problem *p, const struct shunt_engine *e)
{
  (void)e;
  shunt_type t = p->op == SHUNT_SPMM ? p->spmm.b.type : p->sddmm.b.type;
  SHUNT_DECLINE_IF(t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32, SHUNT_R_TYPES);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_engine *e)
{
  return p->op == SHUNT_SPMM ? shunt_spmm_csr_vector_workspace(&p->spmm, &e->device)
                             : shunt_sddmm_csr_vector_workspace(&p->sddmm, &e->device);
}

/* Groups that differ are computed by one warp each, row by row: a few are many. */
#define LEAST_EQUAL 0.95

/* Rows that one gathered row of B serves, on average over the groups; 1 where
   groups differ. */
static double rows_per_gather(const struct shunt_profile *f)
{
  static const int height[3] = { 8, 4, 2 };
  double best = 1;
  for (int v = 0; v < 3; v++) {
    if (f->groups_nonempty[v] == 0) continue;
    double share = (double)f->groups_equal[v] / (double)f->groups_nonempty[v];
    double gathers = share / height[v] + (1 - share);
    if (share >= LEAST_EQUAL && 1 / gathers > best) best = 1 / gathers;
  }
  return best;
}

/* Less than that is `rows`' case: it has most of B in L1 where pairs of rows are alike.  SDDMM finds
   pairs last, after eights and fours: 600 us where `rows` takes 49 (tests/bench/NOTES.md).  */
#define LEAST_REUSE 1.6
#define LEAST_REUSE_SDDMM 3.0

static double expected_sddmm(const struct shunt_sddmm *p, double reuse,
                             const struct shunt_device *d)
{
  const double row = (double)p->a.cols * (double)shunt_type_size(p->b.type);
  return 5 + shunt_cost_gather((double)p->c.nnz / reuse * row, row, row * (double)p->b.cols, d) +
         shunt_cost_csr_bytes(&p->c) / 16e6; /* beside the gather, for the most part */
}

static struct shunt_verdict expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_device *d = &c->engine->device;
  const double reuse = c->profile ? rows_per_gather(c->profile) : 8;
  *us = p->op == SHUNT_SPMM ? shunt_cost_vector(&p->spmm, reuse, d)
                            : expected_sddmm(&p->sddmm, reuse, d);
  SHUNT_DECLINE_IF(c->workspace_bytes < workspace(p, c->engine), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  SHUNT_DECLINE_IF(reuse < (p->op == SHUNT_SPMM ? LEAST_REUSE : LEAST_REUSE_SDDMM), SHUNT_R_PATTERN);
  return SHUNT_VERDICT(SHUNT_FITS);
}

const struct shunt_route shunt_route_vector = {
  .name = "vector", .fits = fits, .workspace = workspace, .expect = expect, .run = run
};
