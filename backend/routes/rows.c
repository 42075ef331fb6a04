/* rows: any CSR matrix, split by nonzeros (kernels/spmm_csr_rows.cu,
   kernels/sddmm_csr_rows.cu).  Direct: no state, right on the first call.  */
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/routes/routes.h"

/* Beyond this the balanced kernel is the faster one (tests/bench/NOTES.md).  The profile
   is a hint: both kernels are right for any matrix.  */
enum { LONGEST_FOR_SPLIT = 16384 };

shunt_status shunt_rows_spmm(const struct shunt_spmm *p, int64_t longest_row,
                             const struct shunt_device *d, void *workspace, size_t workspace_bytes,
                             shunt_stream stream)
{
  if (longest_row <= LONGEST_FOR_SPLIT) {
    shunt_status s = shunt_spmm_csr_rows_split_cuda(p, longest_row, d, workspace, workspace_bytes,
                                                    stream);
    if (s != SHUNT_E_UNSUPPORTED) return s;
  }
  return shunt_spmm_csr_rows_cuda(p, d, workspace, workspace_bytes, stream);
}

static shunt_status run(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->engine->device;
  if (c->problem->op == SHUNT_SPMM)
    return SHUNT_LAUNCH(shunt_rows_spmm(&c->problem->spmm,
                                        c->profile ? c->profile->longest_row : -1, d, c->workspace,
                                        c->workspace_bytes, c->stream));
  return SHUNT_LAUNCH(shunt_sddmm_csr_rows_cuda(&c->problem->sddmm, d, c->workspace,
                                                c->workspace_bytes, c->stream));
}

static struct shunt_verdict fits(const struct shunt_problem *p, const struct shunt_engine *e)
{
  (void)p;
  (void)e;
  return SHUNT_VERDICT(SHUNT_FITS); /* shunt_problem_check has asked everything */
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_engine *e)
{
  return p->op == SHUNT_SPMM ? shunt_spmm_csr_rows_workspace(&p->spmm, &e->device)
                             : shunt_sddmm_csr_rows_workspace(&p->sddmm, &e->device);
}

/* Where cuSPARSE's default was measured to be the faster one, more than its cost says: wide products
   of matrices whose entries sit in very few rows, or in very short ones beside some long ones.  */
static bool original_is_better(const struct shunt_profile *f, const struct shunt_problem *q)
{
  enum { CSR_ALG1 = 4, CSR_ALG3 = 12, SHORT = 96 };
  const struct shunt_spmm *p = &q->spmm;
  if (q->algorithm == CSR_ALG1 || q->algorithm == CSR_ALG3) return false;
  const double row_bytes = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  if (!f || f->rows == 0) return false;
  double mean = (double)f->nnz / (double)f->rows, longest = (double)f->longest_row;
  if (row_bytes >= 1024 && (longest > 64 * mean || (mean < 3 && longest > SHORT)))
    return true;
  return row_bytes >= 512 && longest > LONGEST_FOR_SPLIT;
}

static struct shunt_verdict expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_device *d = &c->engine->device;
  *us = p->op == SHUNT_SPMM ? shunt_cost_rows(&p->spmm, c->profile, d)
                            : shunt_cost_sddmm_rows(&p->sddmm, d);
  /* Asked for even where one launch needs none: a null buffer is the original's to refuse. */
  SHUNT_DECLINE_IF(c->workspace_bytes < workspace(p, c->engine), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(p->op == SHUNT_SPMM && original_is_better(c->profile, p), SHUNT_R_PATTERN);
  return SHUNT_VERDICT(SHUNT_FITS);
}

const struct shunt_route shunt_route_rows = {
  .name = "rows", .fits = fits, .workspace = workspace, .expect = expect, .run = run
};
