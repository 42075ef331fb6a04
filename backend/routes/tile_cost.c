/* tile_cost.c: what the kernel of `tile` is expected to take, which gathers B for merged tiles. */
#include <math.h>

#include "backend/routes/cost_forms.h"

/* Seven finite-element matrices at 64 to 256 columns and 27 pruned layers at 256: 1.1 off. */
static const struct shunt_tile_costs h200 = {
    .start = 3,
    .step = 0.65e-3,
    .written = 0.6e-6,
    .latency = 0.6,
    .pack_start = 20,
    .pack = 0.31}; /* a warp takes 16 rows column by column, twice, 0.15 us each */

/* Per unit (16 x 64 of C) and multiprocessor; and the steps of the warps that have most of them,
   one after the other. */
double shunt_cost_tile_product(const struct shunt_spmm *p, double tiles, double longest_row,
                               const struct shunt_device *d)
{
  if (p->a.rows <= 0) return 0;
  const struct shunt_tile_shape s = shunt_tile_spmm_shape(p, d);
  const double blocks = (double)((p->a.rows + s.rows - 1) / s.rows);
  const double wide = (double)((p->b.cols + s.tile - 1) / s.tile);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double mean = tiles / blocks, longest = longest_row / SHUNT_TILE_COLS;
  const double deep = ceil(shunt_larger(mean, longest) / s.split);
  const double all = (h200.step * tiles * wide + h200.written * written) * shunt_cost_scale(d);
  return h200.start + shunt_larger(all, h200.latency * deep);
}

double shunt_cost_tile(const struct shunt_spmm *p, double product, enum shunt_proof_place proof,
                       const struct shunt_device *d)
{
  switch (proof) {
  case SHUNT_PROOF_NONE: return product;
  case SHUNT_PROOF_INSIDE: return product + shunt_cost_proof_inside(&p->a, d);
  default: return product + shunt_cost_proof_let_in(&p->a, d);
  }
}

/* Rows that share few of theirs have twice as many columns as the longest. */
double shunt_cost_tile_packing(const struct shunt_csr *a, double tiles, double longest_row,
                               const struct shunt_device *d)
{
  const double blocks = (double)((a->rows + SHUNT_TILE_ROWS - 1) / SHUNT_TILE_ROWS);
  const double warps = 16 * 132 / shunt_cost_scale(d);
  const double columns = blocks > 0 ? SHUNT_TILE_COLS * tiles / blocks : 0;
  return h200.pack_start +
         h200.pack * shunt_larger(2 * longest_row, columns * ceil(blocks / warps));
}
