/* vector_cost.c: what the kernels of `vector` are expected to take that read A in place. */
#include <math.h>

#include "backend/routes/cost/cost_forms.h"
#include "kernels/vector/vector_sddmm_share.h"

static const struct shunt_vector_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.vector;
}

#define LEAST_EQUAL 0.95

/* Of the first `heights` of 8, 4 and 2. */
static double best_reuse(const struct shunt_profile *f, int heights)
{
  static const int height_of[3] = {8, 4, 2};
  double best = 1;
  for (int v = 0; v < heights; v++) {
    if (f->groups_nonempty[v] == 0) continue;
    double share = (double)f->groups_equal[v] / (double)f->groups_nonempty[v];
    double gathers = share / height_of[v] + (1 - share);
    if (share >= LEAST_EQUAL && 1 / gathers > best) best = 1 / gathers;
  }
  return best;
}

double shunt_cost_vector_reuse(const struct shunt_profile *f)
{
  return best_reuse(f, 3);
}

double shunt_cost_vector_sddmm_reuse(const struct shunt_profile *f)
{
  return best_reuse(f, 1);
}

static double fitted_us(const struct shunt_fit_costs *c, const struct shunt_spmm *p,
                        double gathered, const struct shunt_machine *m)
{
  struct shunt_spmm whole = *p;
  if (!shunt_cost_is_half(p) || p->b.cols >= SHUNT_COST_VECTOR_ROW)
    return shunt_cost_fitted(c, p, gathered, 0, m);
  whole.b.cols = whole.c.cols = SHUNT_COST_VECTOR_ROW;
  return shunt_cost_fitted(c, &whole, gathered, 0, m);
}

double shunt_cost_vector(const struct shunt_spmm *p, double reuse, double longest_row,
                         const struct shunt_machine *m)
{
  const bool half = shunt_cost_is_half(p);
  const struct shunt_fit_costs *c = half                          ? &of(m)->half
                                    : shunt_cost_scattered(&p->a) ? &of(m)->scattered
                                    : p->b.type == SHUNT_F64      ? &of(m)->f64
                                    : p->b.cols > 64              ? &of(m)->wide
                                                                  : &of(m)->narrow;
  const bool wide = p->a.index_type == SHUNT_I64;
  const double columns = wide ? 4 * (double)p->a.nnz / of(m)->index : 0;
  const double us =
      fitted_us(c, p, (double)p->a.nnz / reuse, m) + columns + shunt_cost_copy_of_b(p, m);
  const struct shunt_cost_walk w = shunt_cost_walk_of(p, reuse, longest_row, m);
  const double late = half                     ? of(m)->longest
                      : p->b.type == SHUNT_F64 ? of(m)->longest_f64
                                               : of(m)->longest_f32;
  const double last = shunt_larger(us, of(m)->longest_start + late * w.longest);
  if (!half) return last;
  const double each = reuse > 3 && reuse < 6 ? of(m)->walk_fours : of(m)->walk;
  return shunt_larger(last, of(m)->walk_start + w.mean * each);
}

/* Warps part the lists of a group, which are as many as rows of it share none; the longest row's
   chunks and steps of 16 entries follow each other.  */
double shunt_cost_vector_single_launch(const struct shunt_spmm *p,
                                       const struct shunt_vector_single_launch *how, double reuse,
                                       double longest_row, const struct shunt_machine *m)
{
  const double nnz = (double)p->a.nnz, groups = ceil((double)p->c.rows / 8);
  const double lists = shunt_larger(8 / reuse, 1), slots = (double)how->warps / how->tiles;
  const double rounds = shunt_larger(lists / slots, 1), slices = shunt_larger(slots / lists, 1);
  const double longest = shunt_larger(longest_row, nnz / (double)p->a.rows);
  const double steps = ceil(ceil(longest / 16) / slices) * rounds;
  const double columns = (double)p->b.cols, size = (double)shunt_type_size(p->b.type);
  const bool narrow = shunt_cost_is_half(p) && columns < SHUNT_COST_VECTOR_ROW;
  const double row = size * (narrow ? SHUNT_COST_VECTOR_ROW : columns);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double index = (double)shunt_type_size(p->a.index_type) / 4;
  const double one_after_other =
      of(m)->single_step * steps +
      of(m)->single_round * shunt_larger(ceil(longest / how->chunk) - 1, 0) +
      of(m)->single_round * (ceil(rounds) - 1);
  return of(m)->single_start + one_after_other + shunt_cost_copy_of_b(p, m) +
         (narrow ? of(m)->single_narrow / columns * nnz / reuse : 0) +
         (of(m)->single_gather * nnz / reuse * row + of(m)->single_written * written +
          of(m)->single_entry * index * nnz * how->blocks +
          of(m)->single_warp * groups * how->blocks * how->warps);
}

double shunt_cost_vector_direct(const struct shunt_spmm *p, double reuse, double longest_row,
                                const struct shunt_machine *m)
{
  struct shunt_vector_single_launch how;
  return shunt_vector_csr_spmm_single_launch(p, &m->device, &how)
             ? shunt_cost_vector_single_launch(p, &how, reuse, longest_row, m)
             : shunt_cost_vector(p, reuse, longest_row, m);
}

static double copies(const struct shunt_sddmm *p, const struct shunt_machine *m)
{
  const double copied = shunt_cost_sddmm_copied_bytes(p);
  return copied > 0 ? of(m)->copies_start + of(m)->copied * copied : 0;
}

/* Tiles one after another, or the gather of B, whichever takes longer. */
double shunt_cost_vector_sddmm(const struct shunt_sddmm *p, double reuse,
                               const struct shunt_machine *m)
{
  const int size = (int)shunt_type_size(p->b.type);
  const struct shunt_vector_sddmm_costs *c = &of(m)->sddmm[size > 2];
  const struct shunt_vector_sddmm_share share =
      shunt_vector_sddmm_share_of(p->c.rows, p->c.nnz, size, shunt_cost_multiprocessors(m));
  const double tiles = shunt_vector_sddmm_tiles(&share) * SHUNT_VECTOR_ROWS / reuse;
  const double row = (double)p->a.cols * size;
  const double gather =
      shunt_cost_gather((double)p->c.nnz / reuse * row, row, row * (double)p->b.cols, m);
  return c->start + copies(p, m) +
         shunt_larger(tiles * (c->tile + c->step * (double)p->a.cols), gather);
}
