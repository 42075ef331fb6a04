/* bundle_cost.c: what the kernel of `bundle` is expected to take. */
#include "backend/routes/cost/cost_forms.h"
#include "kernels/bundle/bundle_shape.h"

/* The hint is made one column of a group after the other: a longer row would take a millisecond,
   and the product of its group is one block's alone.  */
enum { LONGEST_ROW = 3072 };
/* Rows shorter than this have nothing to share. */
enum { LEAST_MEAN_ROW = 8 };
#define MARGIN 1.1
#define MARGIN_F64 0.97

bool shunt_choose_bundle_candidate(const struct shunt_csr *a, const struct shunt_profile *f)
{
  return a->nnz >= LEAST_MEAN_ROW * a->rows && f->longest_row <= LONGEST_ROW;
}

double shunt_cost_bundle_margin(const struct shunt_csr *a)
{
  return a->value_type == SHUNT_F64 && shunt_cost_scattered(a) ? MARGIN_F64 : MARGIN;
}

static struct shunt_bundle_work work_of(const struct shunt_spmm *p, double vectors,
                                        const struct shunt_machine *m)
{
  const int64_t size = (int64_t)shunt_type_size(p->b.type);
  return (struct shunt_bundle_work){.groups =
                                        (p->a.rows + SHUNT_BUNDLE_ROWS - 1) / SHUNT_BUNDLE_ROWS,
                                    .vectors = (int64_t)vectors,
                                    .n = p->b.cols,
                                    .columns = p->b.cols * size % 16 ? 1 : 16 / (int)size,
                                    .type = p->b.type,
                                    .multiprocessors = m->device.multiprocessors};
}

/* Vectors of the longest list that one warp walks.  Lists that are far longer than others have a
   block of 8 warps each, where they are few: as far as a mean tells.  */
static double longest_of_warp(const struct shunt_bundle_work *w, const struct shunt_bundle_cut *c,
                              double longest)
{
  const bool few = w->vectors <= SHUNT_BUNDLE_LONG * w->groups;
  return longest / (few && longest > SHUNT_BUNDLE_LONG ? 8 : 1 << c->slices_log2);
}

/* Layers have few groups and long lists: by what one warp takes for its part of a list, how many
   warps share a scheduler, and what the longest list takes beyond that.  */
static double layer_us(const struct shunt_spmm *p, const struct shunt_profile *f, double vectors,
                       double longest, const struct shunt_machine *m)
{
  const struct shunt_bundle_costs *t = &m->costs->ours.bundle;
  const struct shunt_fit_costs *c = p->b.type == SHUNT_F64 ? &t->layer_f64 : &t->layer_f32;
  const struct shunt_bundle_work w = work_of(p, vectors, m);
  const struct shunt_bundle_cut cut = shunt_bundle_choose_cut(&w);
  const struct shunt_bundle_steps s = shunt_bundle_steps_of(&w, &cut);
  const double late = shunt_larger(longest_of_warp(&w, &cut, longest) - s.vectors, 0);
  return shunt_cost_fitted(c, p, vectors, late, m) + shunt_cost_waiting(c, p, f) +
         1e-3 * (c->walk * s.vectors +
                 s.turns * (c->turns + c->shared * s.sharing + c->rounds * s.rounds * s.most));
}

double shunt_cost_bundle(const struct shunt_spmm *p, const struct shunt_profile *f, double vectors,
                         double longest, const struct shunt_machine *m)
{
  const struct shunt_bundle_costs *t = &m->costs->ours.bundle;
  const struct shunt_fit_costs *scattered = p->b.type == SHUNT_F64 ? &t->f64 : &t->f32;
  const double us = shunt_cost_scattered(&p->a)
                        ? shunt_cost_fitted(scattered, p, vectors, longest, m)
                        : layer_us(p, f, vectors, longest, m);
  return us + shunt_cost_copy_of_b(p, m) + shunt_cost_columns_of_c(p, SHUNT_ROWS_AS_STORED, m);
}
