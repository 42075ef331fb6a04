/* rows: any CSR matrix, split by nonzeros (kernels/csr/csr_spmm.cu,
   kernels/csr/csr_sddmm_rows.cu).  Direct: no state, right on the first call.  */
#include "backend/plan/context.h"
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/routes.h"
#include "kernels/csr/csr_kernels.h"

/* Is the balanced kernel the faster one (tests/bench/csr.md)?  Where one block's row would end
   last, at 1.2 ns an entry; and for narrow products of rows that mostly have next to nothing.  The
   profile is a hint: both kernels are right for any matrix.  */
enum { LONGEST_FOR_SPLIT = 16384 };

static bool balances(const struct shunt_spmm *p, int64_t longest, const struct shunt_device *d)
{
  enum { HUGE_ROW = 2048 };
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double nnz = (double)p->a.nnz;
  if (longest <= HUGE_ROW) return false;
  const double sparse = row < 128 ? 3.5 : 6;
  if (nnz < sparse * (double)p->a.rows && row <= 256) return true;
  const double others =
      nnz * row / 8000 * 132 / (d->multiprocessors > 0 ? d->multiprocessors : 132);
  return longest > LONGEST_FOR_SPLIT && 1.2 * (double)longest > others;
}

shunt_status shunt_route_csr_spmm(const struct shunt_spmm *p, int64_t longest_row,
                                  const struct shunt_device *d, void *workspace,
                                  size_t workspace_bytes, shunt_stream stream)
{
  if (!balances(p, longest_row, d)) {
    shunt_status s =
        shunt_csr_spmm_split_cuda(p, longest_row, d, workspace, workspace_bytes, stream);
    if (s != SHUNT_E_UNSUPPORTED) return s;
  }
  return shunt_csr_spmm_merge_cuda(p, d, workspace, workspace_bytes, stream);
}

static shunt_status run(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->context->device;
  if (c->problem->op == SHUNT_SPMM)
    return SHUNT_LAUNCH(shunt_route_csr_spmm(&c->problem->spmm,
                                             c->profile ? c->profile->longest_row : -1, d,
                                             c->workspace, c->workspace_bytes, c->stream));
  return SHUNT_LAUNCH(
      shunt_csr_sddmm_cuda(&c->problem->sddmm, d, c->workspace, c->workspace_bytes, c->stream));
}

static struct shunt_verdict fits(const struct shunt_problem *p, const struct shunt_context *e)
{
  (void)p;
  (void)e;
  return SHUNT_VERDICT(SHUNT_FITS); /* shunt_problem_check has asked everything */
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *e)
{
  return p->op == SHUNT_SPMM ? shunt_csr_spmm_workspace(&p->spmm, &e->device)
                             : shunt_csr_sddmm_workspace(&p->sddmm, &e->device);
}

/* Where cuSPARSE's default was measured to be the faster one, more than its cost says: wide
   products of matrices with huge rows, in f32 where all others are short, in f64 where they are
   not.  */
static bool original_is_better(const struct shunt_profile *f, const struct shunt_problem *q)
{
  enum { CSR_ALG1 = 4, CSR_ALG3 = 12 };
  const struct shunt_spmm *p = &q->spmm;
  if (!f || f->rows == 0 || q->algorithm == CSR_ALG1 || q->algorithm == CSR_ALG3) return false;
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double mean = (double)f->nnz / (double)f->rows, longest = (double)f->longest_row;
  if (p->b.type == SHUNT_F64) return row >= 1024 && mean >= 24 && longest > 256 * mean;
  return row >= 512 && mean < 8 && longest > LONGEST_FOR_SPLIT;
}

static struct shunt_verdict expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_device *d = &c->context->device;
  *us = p->op == SHUNT_SPMM ? shunt_cost_csr(&p->spmm, c->profile, d)
                            : shunt_cost_csr_sddmm(&p->sddmm, d);
  /* Asked for even where one launch needs none: a null buffer is the original's to refuse. */
  SHUNT_DECLINE_IF(c->workspace_bytes < workspace(p, c->context), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(p->op == SHUNT_SPMM && original_is_better(c->profile, p), SHUNT_R_PATTERN);
  return SHUNT_VERDICT(SHUNT_FITS);
}

const struct shunt_route shunt_route_csr = {
    .name = "csr", .fits = fits, .workspace = workspace, .expect = expect, .run = run};
