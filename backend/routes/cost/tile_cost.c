/* tile_cost.c: what the kernel of `tile` is expected to take, which gathers B for merged tiles. */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"

static const struct shunt_tile_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.tile;
}

/* Per unit (16 x 64 of C) and multiprocessor; and the steps of the warps that have most of them,
   one after the other. */
double shunt_cost_tile_product(const struct shunt_spmm *p, double tiles, double longest_row,
                               const struct shunt_machine *m)
{
  if (p->a.rows <= 0) return 0;
  const struct shunt_tile_shape s = shunt_tile_spmm_shape(p, &m->device);
  const double blocks = (double)((p->a.rows + s.rows - 1) / s.rows);
  const double wide = (double)((p->b.cols + s.tile - 1) / s.tile);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double columns = p->c.col_stride != 1 && p->c.cols > 1
                             ? (double)p->c.rows * shunt_larger((double)p->c.cols, 32)
                             : 0;
  const double mean = tiles / blocks, longest = longest_row / SHUNT_TILE_COLS;
  const double deep = ceil(shunt_larger(mean, longest) / s.split);
  const double all = (of(m)->step * tiles * wide + of(m)->written * written);
  return of(m)->start + shunt_larger(all, of(m)->latency * deep) + 1e-6 * of(m)->columns * columns;
}

double shunt_cost_tile(const struct shunt_spmm *p, double product, enum shunt_proof_place proof,
                       const struct shunt_machine *m)
{
  switch (proof) {
  case SHUNT_PROOF_NONE: return product;
  case SHUNT_PROOF_INSIDE: return product + shunt_cost_proof_inside(&p->a, m);
  default: return product + shunt_cost_proof_let_in(&p->a, m);
  }
}

/* Rows that share few of theirs have twice as many columns as the longest. */
double shunt_cost_tile_packing(const struct shunt_csr *a, double tiles, double longest_row,
                               const struct shunt_machine *m)
{
  const double blocks = (double)((a->rows + SHUNT_TILE_ROWS - 1) / SHUNT_TILE_ROWS);
  const double warps = 16 * shunt_cost_multiprocessors(m);
  const double columns = blocks > 0 ? SHUNT_TILE_COLS * tiles / blocks : 0;
  return of(m)->pack_start +
         of(m)->pack * shunt_larger(2 * longest_row, columns * ceil(blocks / warps));
}
