/* sorted_cost.c: what the kernels of `sorted` are expected to take. */
#include "backend/routes/cost/cost_forms.h"

/* Where a third of the steps that rows take side by side is waiting, or where long rows would be
   what all wait for.  Of layers nothing was measured.  */
bool shunt_choose_sorted_candidate(const struct shunt_csr *a, const struct shunt_profile *f)
{
  enum { LEAST_ROWS = 1024, LEAST_LONGEST = 64, TIMES_MEAN = 8 };
  if (!f || a->rows < LEAST_ROWS || !shunt_cost_scattered(a)) return false;
  return 3 * f->idle_steps >= f->nnz ||
         (f->longest_row >= LEAST_LONGEST && f->longest_row * f->rows >= TIMES_MEAN * f->nnz);
}

double shunt_cost_sorted(const struct shunt_spmm *p, const struct shunt_profile *f,
                         const struct shunt_machine *m)
{
  const struct shunt_fit_costs *c =
      &m->costs->ours.sorted.scattered[shunt_cost_block_type(p->b.type)];
  return shunt_cost_fitted(c, p, (double)p->a.nnz, shunt_cost_longest(&p->a, f), m) +
         shunt_cost_copy_of_b(p, m) + shunt_cost_columns_of_c(p, m);
}
