/* vector: aligned groups of 8, 4 or 2 rows with equal column lists, multiplied as
   column vectors on the tensor cores (f32 and f64: by FMA).

   Direct: straight from CSR (kernels/vector/vector_csr_spmm.cu,
   kernels/vector/vector_csr_sddmm.cu).  Groups are compared as they are read, and one that differs
   goes row by row in the same launch; so the profile is only what makes it worth trying.

   Packed, SpMM of f16 and bf16, and of f32 where SHUNT_MATH allows TF32: vector_packed.h.  */
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/routes.h"
#include "backend/routes/vector_packed.h"
#include "kernels/vector/vector_kernels.h"

/* ---- the route ------------------------------------------------------------------ */

static shunt_status run_direct(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->context->device;
  if (c->problem->op == SHUNT_SPMM) {
    struct shunt_spmm s = c->problem->spmm;
    s.next_waits = shunt_problem_lets_next_in(c->problem);
    return SHUNT_LAUNCH(
        shunt_vector_csr_spmm_cuda(&s, d, c->workspace, c->workspace_bytes, c->stream));
  }
  return SHUNT_LAUNCH(shunt_vector_csr_sddmm_cuda(&c->problem->sddmm, d, c->workspace,
                                                  c->workspace_bytes, c->stream));
}

static shunt_status run(const struct shunt_call *c)
{
  if (c->packed && shunt_vector_takes_packed(c)) {
    /* Not for this B or C: nothing was enqueued. */
    const shunt_status r = shunt_packed_run(&shunt_vector_packed, c);
    if (r != SHUNT_E_UNSUPPORTED && r != SHUNT_E_WORKSPACE) return r;
  }
  /* It was chosen for a copy that there was no memory for: another route is faster. */
  if (!c->forced && shunt_vector_takes_packed(c) && shunt_vector_in_order(c))
    return SHUNT_E_UNSUPPORTED;
  return run_direct(c);
}

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  shunt_type t = p->op == SHUNT_SPMM ? p->spmm.b.type : p->sddmm.b.type;
  const bool wide = t == SHUNT_F64 && p->op == SHUNT_SPMM;
  SHUNT_DECLINE_IF(t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32 && !wide, SHUNT_R_TYPES);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static size_t direct_workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  return p->op == SHUNT_SPMM ? shunt_vector_csr_spmm_workspace(&p->spmm, &context->device)
                             : shunt_vector_csr_sddmm_workspace(&p->sddmm, &context->device);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  const struct shunt_call c = {.problem = p, .context = (struct shunt_context *)context};
  const size_t direct = direct_workspace(p, context);
  const size_t copy = shunt_vector_packed_workspace(&c);
  return copy > direct ? copy : direct;
}

static double expected_spmm(const struct shunt_call *c, double reuse)
{
  const double longest = c->profile ? (double)c->profile->longest_row : 0;
  return shunt_vector_takes_packed(c)
             ? shunt_vector_packed_us(c, reuse)
             : shunt_cost_vector_direct(&c->problem->spmm, reuse, longest, &c->context->machine);
}

/* Rows of A that a gathered row of B, or column in SDDMM, serves. */
static double reuse_of(const struct shunt_call *c)
{
  if (!c->profile) return 8;
  return c->problem->op == SHUNT_SPMM ? shunt_cost_vector_reuse(c->profile)
                                      : shunt_cost_vector_sddmm_reuse(c->profile);
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_machine *m = &c->context->machine;
  const double reuse = reuse_of(c);
  const size_t workspace_bytes = direct_workspace(p, c->context);
  SHUNT_DECLINE_IF(c->workspace_bytes < workspace_bytes, SHUNT_R_WORKSPACE);
  *us =
      p->op == SHUNT_SPMM ? expected_spmm(c, reuse) : shunt_cost_vector_sddmm(&p->sddmm, reuse, m);
  if (p->op == SHUNT_SDDMM && !c->capturing)
    *us = shunt_cost_sddmm_enqueued(*us, workspace_bytes > 0, m);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  if (shunt_vector_takes_packed(c) && shunt_vector_in_order(c))
    return SHUNT_OUTCOME(SHUNT_R_ORDERED);
  /* In SDDMM a reuse of less than 8 rows is none: groups that differ go entry by entry, by few
     warps (112 us where `csr` takes 24; tests/bench/sddmm.md). */
  SHUNT_DECLINE_IF(reuse < SHUNT_VECTOR_LEAST_REUSE, SHUNT_R_PATTERN);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

const struct shunt_route shunt_route_vector = {.name = "vector",
                                               .fits = fits,
                                               .workspace = workspace,
                                               .expect = expect,
                                               .run = run,
                                               .takes_sddmm = true,
                                               .pack_bytes = shunt_vector_pack_bytes,
                                               .pack = shunt_vector_pack,
                                               .study_bytes = shunt_vector_study_bytes,
                                               .study = shunt_vector_study,
                                               .packs_by_profile = true};
