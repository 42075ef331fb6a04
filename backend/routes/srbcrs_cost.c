/* srbcrs_cost.c: what the kernel of `srbcrs` is expected to take, which gathers B for groups of
   rows.  A model, not a fit; tests/bench/srbcrs.md has what it chose in the products timed. */
#include <math.h>

#include "backend/routes/cost_forms.h"
#include "kernels/common/divide.h"
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

double shunt_cost_srbcrs(const struct shunt_spmm *p, int height, double longest_row,
                         enum shunt_proof_place proof, const struct shunt_machine *m)
{
  const double product = product_us(p, height, longest_row, m);
  switch (proof) {
  case SHUNT_PROOF_NONE: return product;
  case SHUNT_PROOF_INSIDE: return product + shunt_cost_proof_inside(&p->a, m);
  default: return product + shunt_cost_proof_let_in(&p->a, m);
  }
}

/* Up to so many columns of B the kernel takes no longer by 64 than by 128 columns, which leave no
   registers to a proof (tests/bench/results/integers.txt).  */
enum { PROVED_COLUMNS = 256 };

/* Where the blocks are at work all at once, or twice with few to spare, as with `tile`: more are
   dealt out better by the hardware.  A warp for a unit where there are 6 for a multiprocessor. */
bool shunt_choose_srbcrs_proved(const struct shunt_spmm *p, int height,
                                const struct shunt_machine *m, struct shunt_srbcrs_shape *shape)
{
  shape->columns = p->b.cols > 32 ? 64 : 32;
  const int64_t units = shunt_div_up(p->a.rows, height) * shunt_div_up(p->b.cols, shape->columns);
  shape->split = units >= INT64_C(6) * m->device.multiprocessors ? 1 : 4;
  if (p->b.cols > PROVED_COLUMNS) return false;
  const double rounds = shunt_srbcrs_spmm_proved_rounds(p, height, shape, &m->device);
  return (rounds > 0 && rounds <= 1) || (rounds >= 1.8 && rounds <= 2);
}

/* A warp takes a group window by window of 32 columns, those that have entries. */
double shunt_cost_srbcrs_packing(const struct shunt_csr *a, int height, double longest_row,
                                 const struct shunt_machine *m)
{
  const double groups = ceil((double)a->rows / height), warps = 16 * shunt_cost_multiprocessors(m);
  const double windows = shunt_lesser(longest_row, ceil((double)a->cols / SHUNT_SRBCRS_STRIDE));
  return of(m)->pack_start + of(m)->pack * windows * ceil(groups / warps);
}
