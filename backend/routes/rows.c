/* rows: any CSR matrix, split by nonzeros (kernels/spmm_csr_rows.cu,
   kernels/sddmm_csr_rows.cu).  Direct: no state, right on the first call.  */
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/routes/routes.h"

/* Rows of much the same length need no balancing: one launch instead of two.  A hint is
   enough, since both kernels are right for any matrix.  */
static bool rows_are_even(const struct shunt_profile *f)
{
  return f && f->rows > 0 && f->longest_row <= 128 + 4 * (f->nnz / f->rows);
}

static shunt_status run(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->engine->device;
  if (c->problem->op == SHUNT_SPMM && rows_are_even(c->profile)) {
    shunt_status s =
        SHUNT_LAUNCH(shunt_spmm_csr_rows_split_cuda(&c->problem->spmm, d, c->stream));
    if (s != SHUNT_E_UNSUPPORTED) return s;
  }
  if (c->problem->op == SHUNT_SPMM)
    return SHUNT_LAUNCH(shunt_spmm_csr_rows_cuda(&c->problem->spmm, d, c->workspace,
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

static struct shunt_verdict expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_device *d = &c->engine->device;
  const struct shunt_csr *a = shunt_problem_sparse(p);
  double row, table, written;
  if (p->op == SHUNT_SPMM) {
    double size = (double)shunt_type_size(p->spmm.b.type);
    row = (double)p->spmm.b.cols * size;
    table = row * (double)p->spmm.b.rows;
    written = (double)p->spmm.c.rows * (double)p->spmm.c.cols *
              (double)shunt_type_size(p->spmm.c.type);
    if (p->spmm.b.col_stride != 1) written += 2 * table; /* copied into rows first */
  } else {
    row = (double)p->sddmm.a.cols * (double)shunt_type_size(p->sddmm.a.type);
    table = row * (double)p->sddmm.b.cols;
    written = 0;
  }
  *us = shunt_cost_gather((double)a->nnz * row, row, table, d) +
        shunt_cost_copy(written + shunt_cost_csr_bytes(a), d);
  SHUNT_DECLINE_IF(c->workspace_bytes < workspace(p, c->engine), SHUNT_R_WORKSPACE);
  return SHUNT_VERDICT(SHUNT_FITS);
}

const struct shunt_route shunt_route_rows = {
  .name = "rows", .fits = fits, .workspace = workspace, .expect = expect, .run = run
};
