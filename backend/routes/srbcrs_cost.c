/* srbcrs_cost.c: what the kernel of `srbcrs` is expected to take, which gathers B for groups of
   rows.  A model, not a fit; tests/bench/srbcrs.md has what it chose in the products timed. */
#include <math.h>

#include "backend/routes/cost_forms.h"
#include "kernels/srbcrs/srbcrs_kernels.h"

/* The rates are those that other kernels of the same form reach on an H200: rows of B gathered out
   of L2 (cost_forms.c), a step of a walk (`tile`). */
static const struct shunt_srbcrs_costs h200 = {
    .start = 3, .written = 0.6e-6, .latency = 0.6, .pack_start = 10, .pack = 1.5};

/* B gathered once for each vector, and C written; or the strides of the longest group, one after
   the other.  */
static double product_us(const struct shunt_spmm *p, int height, double longest_row,
                         const struct shunt_device *d)
{
  const double row = (double)p->b.cols, table = row * (double)p->b.rows;
  const double vectors = (double)p->a.nnz / height;
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const struct shunt_srbcrs_shape shape = shunt_srbcrs_spmm_shape(p, height, d);
  const double deep = ceil(longest_row / SHUNT_SRBCRS_STRIDE / shape.split);
  const double gathered = shunt_cost_gather(vectors * row, row, table, d);
  return shunt_larger(gathered, h200.start + h200.latency * deep) +
         h200.written * written * shunt_cost_scale(d);
}

/* There is no proof inside the launch. */
double shunt_cost_srbcrs(const struct shunt_spmm *p, int height, double longest_row,
                         enum shunt_proof_place proof, const struct shunt_device *d)
{
  const double product = product_us(p, height, longest_row, d);
  return proof == SHUNT_PROOF_NONE ? product : product + shunt_cost_proof_let_in(&p->a, d);
}

/* A warp takes a group window by window of 32 columns, those that have entries. */
double shunt_cost_srbcrs_packing(const struct shunt_csr *a, int height, double longest_row,
                                 const struct shunt_device *d)
{
  const double groups = ceil((double)a->rows / height), warps = 16 * 132 / shunt_cost_scale(d);
  const double windows = shunt_lesser(longest_row, ceil((double)a->cols / SHUNT_SRBCRS_STRIDE));
  return h200.pack_start + h200.pack * windows * ceil(groups / warps);
}
