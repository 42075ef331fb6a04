/* srbcrs_cost.c: what the kernel of `srbcrs` is expected to take, which gathers B for groups of
   rows.  A model, not a fit; tests/bench/srbcrs.md has what it chose in the products timed. */
#include <math.h>

#include "backend/routes/cost_forms.h"
#include "kernels/srbcrs/srbcrs_kernels.h"

static const struct shunt_srbcrs_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.srbcrs;
}

/* B gathered once for each vector, and C written; or the strides of the longest group, one after
   the other.  */
static double product_us(const struct shunt_spmm *p, int height, double longest_row,
                         const struct shunt_machine *m)
{
  const double row = (double)p->b.cols, table = row * (double)p->b.rows;
  const double vectors = (double)p->a.nnz / height;
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const struct shunt_srbcrs_shape shape = shunt_srbcrs_spmm_shape(p, height, &m->device);
  const double deep = ceil(longest_row / SHUNT_SRBCRS_STRIDE / shape.split);
  const double gathered = shunt_cost_gather(vectors * row, row, table, m);
  return shunt_larger(gathered, of(m)->start + of(m)->latency * deep) + of(m)->written * written;
}

/* There is no proof inside the launch. */
double shunt_cost_srbcrs(const struct shunt_spmm *p, int height, double longest_row,
                         enum shunt_proof_place proof, const struct shunt_machine *m)
{
  const double product = product_us(p, height, longest_row, m);
  return proof == SHUNT_PROOF_NONE ? product : product + shunt_cost_proof_let_in(&p->a, m);
}

/* A warp takes a group window by window of 32 columns, those that have entries. */
double shunt_cost_srbcrs_packing(const struct shunt_csr *a, int height, double longest_row,
                                 const struct shunt_machine *m)
{
  const double groups = ceil((double)a->rows / height), warps = 16 * shunt_cost_multiprocessors(m);
  const double windows = shunt_lesser(longest_row, ceil((double)a->cols / SHUNT_SRBCRS_STRIDE));
  return of(m)->pack_start + of(m)->pack * windows * ceil(groups / warps);
}
