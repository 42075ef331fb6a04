/* bundle_cost.c: what the kernel of `bundle` is expected to take. */
#include "backend/routes/cost/cost_forms.h"

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

static const struct shunt_fit_costs *fit_of(const struct shunt_spmm *p,
                                            const struct shunt_bundle_costs *t)
{
  if (shunt_cost_scattered(&p->a)) return p->b.type == SHUNT_F64 ? &t->f64 : &t->f32;
  return p->b.type == SHUNT_F64 ? &t->layer_f64 : &t->layer_f32;
}

double shunt_cost_bundle(const struct shunt_spmm *p, double vectors, double longest,
                         const struct shunt_machine *m)
{
  const struct shunt_fit_costs *c = fit_of(p, &m->costs->ours.bundle);
  return shunt_cost_fitted(c, p, vectors, longest, m) + shunt_cost_copy_of_b(p, m) +
         shunt_cost_columns_of_c(p, SHUNT_ROWS_AS_STORED, m);
}
