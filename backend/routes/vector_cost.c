/* vector_cost.c: what the kernels of `vector` are expected to take that read A in place. */
#include <math.h>

#include "backend/routes/cost_forms.h"

/* Layers, pruned and of random vectors; 1.11 off. */
static const struct shunt_vector_costs h200 = {
    .narrow = {.start = 7.2, .gather = 145, .list = 6.8},
    /* Random 8 x 1 and 4 x 1 vectors, 4096 and 8192 square, N = 256 and 1024, 0.7 to 0.98 sparse:
       0.89 to 1.17 times what they take.  */
    .wide = {.start = 7.2, .gather = 110, .written = 460, .list = 6.8},
    .f64 = {.start = 8, .gather = 118, .written = 600, .list = 11},
    .half = {.start = 5.1, .gather = 90, .written = 834, .list = 12.2},
    /* The f32 kernel on finite elements in blocks of 4, where it walks each list at its own pace.
       */
    .scattered = {.start = 7.2, .gather = 145, .list = 76},
    .index = 4.28e6, /* the fits are of 4 bytes a column */
    .walk_start = 6,
    .walk = 0.031,
    .walk_fours = 0.042, /* lists of fours take longer than those of eights and twos */
    .longest_start = 5,
    .longest = 0.020,
    /* 211 products of layers in one launch: 1.06 off. */
    .single_start = 2.3,
    .single_step = 0.22,
    .single_round = 0.84,
    .single_gather = 44e-9,
    .single_written = 291e-9,
    .single_entry = 1.1e-6,
    .single_warp = 0.48e-3,
    .sddmm_start = 5,
    .sddmm_read = 16e6,
    /* B of 4096 columns in f16, inner dimensions 256 to 1024 (results/sddmm.json): 4.4, 8.0 and
       13.9 us.  */
    .copies_start = 1.2,
    .copied = 780e-9};

/* Groups that differ are computed by one warp each, row by row: a few are many. */
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

double shunt_cost_vector(const struct shunt_spmm *p, double reuse, double longest_row,
                         const struct shunt_device *d)
{
  const bool half = shunt_cost_is_half(p);
  const struct shunt_fit_costs *c = half                          ? &h200.half
                                    : shunt_cost_scattered(&p->a) ? &h200.scattered
                                    : p->b.type == SHUNT_F64      ? &h200.f64
                                    : p->b.cols > 64              ? &h200.wide
                                                                  : &h200.narrow;
  const bool wide = p->a.index_type == SHUNT_I64;
  const double columns = wide ? 4 * (double)p->a.nnz / h200.index * shunt_cost_scale(d) : 0;
  const double us = shunt_cost_fitted(c, p, (double)p->a.nnz / reuse, 0, d) + columns +
                    shunt_cost_copy_of_b(p, d);
  if (!half) return us;
  const struct shunt_cost_walk w = shunt_cost_walk_of(p, reuse, longest_row, d);
  const double each = reuse > 3 && reuse < 6 ? h200.walk_fours : h200.walk;
  return shunt_larger(us, shunt_larger(h200.walk_start + w.mean * each,
                                       h200.longest_start + h200.longest * w.longest));
}

/* Warps part the lists of a group, which are as many as rows of it share none; the longest row's
   chunks and steps of 16 entries follow each other.  */
double shunt_cost_vector_single_launch(const struct shunt_spmm *p,
                                       const struct shunt_vector_single_launch *how, double reuse,
                                       double longest_row, const struct shunt_device *d)
{
  const double nnz = (double)p->a.nnz, groups = ceil((double)p->c.rows / 8);
  const double lists = shunt_larger(8 / reuse, 1), slots = (double)how->warps / how->tiles;
  const double rounds = shunt_larger(lists / slots, 1), slices = shunt_larger(slots / lists, 1);
  const double longest = shunt_larger(longest_row, nnz / (double)p->a.rows);
  const double steps = ceil(ceil(longest / 16) / slices) * rounds;
  const double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  const double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  const double index = (double)shunt_type_size(p->a.index_type) / 4;
  const double one_after_other =
      h200.single_step * steps +
      h200.single_round * shunt_larger(ceil(longest / how->chunk) - 1, 0) +
      h200.single_round * (ceil(rounds) - 1);
  return h200.single_start + one_after_other + shunt_cost_copy_of_b(p, d) +
         shunt_cost_scale(d) *
             (h200.single_gather * nnz / reuse * row + h200.single_written * written +
              h200.single_entry * index * nnz * how->blocks +
              h200.single_warp * groups * how->blocks * how->warps);
}

double shunt_cost_vector_direct(const struct shunt_spmm *p, double reuse, double longest_row,
                                const struct shunt_device *d)
{
  struct shunt_vector_single_launch how;
  return shunt_vector_csr_spmm_single_launch(p, d, &how)
             ? shunt_cost_vector_single_launch(p, &how, reuse, longest_row, d)
             : shunt_cost_vector(p, reuse, longest_row, d);
}

static double copies(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  const double copied = shunt_cost_sddmm_copied_bytes(p);
  return copied > 0 ? h200.copies_start + h200.copied * copied * shunt_cost_scale(d) : 0;
}

double shunt_cost_vector_sddmm(const struct shunt_sddmm *p, double reuse,
                               const struct shunt_device *d)
{
  const double row = (double)p->a.cols * (double)shunt_type_size(p->b.type);
  return h200.sddmm_start + copies(p, d) +
         shunt_cost_gather((double)p->c.nnz / reuse * row, row, row * (double)p->b.cols, d) +
         shunt_cost_csr_bytes(&p->c) / h200.sddmm_read; /* beside the gather, for the most part */
}
