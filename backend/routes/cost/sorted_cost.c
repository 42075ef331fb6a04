/* sorted_cost.c: what the kernels of `sorted` are expected to take. */
#include "backend/routes/cost/cost_forms.h"

/* Where a third of the steps that rows take side by side is waiting, or where long rows would be
   what all wait for.  */
static bool scattered_gains(const struct shunt_csr *a, const struct shunt_profile *f)
{
  enum { LEAST_ROWS = 1024, LEAST_LONGEST = 64, TIMES_MEAN = 8 };
  return a->rows >= LEAST_ROWS &&
         (3 * f->idle_steps >= f->nnz ||
          (f->longest_row >= LEAST_LONGEST && f->longest_row * f->rows >= TIMES_MEAN * f->nnz));
}

/* Where rows differ and are more than `csr` has blocks for at once, or few are far longer. */
static bool layer_gains(const struct shunt_csr *a, const struct shunt_profile *f)
{
  enum { MANY_ROWS = 3072, TIMES_MEAN = 2, TIMES_MEAN_OF_FEW = 4 };
  const int64_t least = a->rows >= MANY_ROWS ? TIMES_MEAN : TIMES_MEAN_OF_FEW;
  return f->longest_row * f->rows >= least * f->nnz;
}

bool shunt_choose_sorted_candidate(const struct shunt_spmm *p, const struct shunt_profile *f)
{
  if (!f) return false;
  return shunt_cost_scattered(&p->a) ? scattered_gains(&p->a, f) : layer_gains(&p->a, f);
}

/* Where B's rows are one or two loads of 16 bytes A is not staged.  Of four it depends on more: the
   line of others tells. */
static const struct shunt_fit_costs *line_of(const struct shunt_spmm *p,
                                             const struct shunt_sorted_costs *c)
{
  const int64_t bytes = p->b.cols * (int64_t)shunt_type_size(p->b.type);
  const int type = shunt_cost_block_type(p->b.type);
  if (bytes > 32) return shunt_cost_scattered(&p->a) ? &c->scattered[type] : &c->layer[type];
  return shunt_cost_is_half(p) ? &c->unstaged_half : &c->unstaged;
}

double shunt_cost_sorted(const struct shunt_spmm *p, const struct shunt_profile *f,
                         const struct shunt_machine *m)
{
  return shunt_cost_fitted(line_of(p, &m->costs->ours.sorted), p, (double)p->a.nnz,
                           shunt_cost_longest(&p->a, f), m) +
         shunt_cost_copy_of_b(p, m) + shunt_cost_columns_of_c(p, SHUNT_ROWS_BY_LENGTH, m);
}
