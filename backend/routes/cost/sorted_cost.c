/* sorted_cost.c: what the kernels of `sorted` are expected to take. */
#include "backend/routes/cost/cost_forms.h"
#include "kernels/sorted/sorted_kernels.h"

/* Where a third of the steps that rows take side by side is waiting, or where long rows would be
   what all wait for.  */
static bool scattered_gains(const struct shunt_csr *a, const struct shunt_profile *f)
{
  enum { LEAST_ROWS = 1024, LEAST_LONGEST = 64, TIMES_MEAN = 8 };
  return a->rows >= LEAST_ROWS &&
         (3 * f->idle_steps >= f->nnz ||
          (f->longest_row >= LEAST_LONGEST && f->longest_row * f->rows >= TIMES_MEAN * f->nnz));
}

/* Where rows differ, and somebody counted. */
static bool layer_gains(const struct shunt_profile *f)
{
  enum { TIMES_MEAN = 2 };
  return f->lengths.at_least[0] > 0 && f->longest_row * f->rows >= TIMES_MEAN * f->nnz;
}

bool shunt_choose_sorted_candidate(const struct shunt_spmm *p, const struct shunt_profile *f)
{
  if (!f) return false;
  return shunt_cost_scattered(&p->a) ? scattered_gains(&p->a, f) : layer_gains(f);
}

static const struct shunt_sorted_costs *of(const struct shunt_machine *m)
{
  return &m->costs->ours.sorted;
}

/* Where B's rows are one or two loads of 16 bytes A is not staged.  Of four it depends on more: the
   line of others tells. */
static double scattered_us(const struct shunt_spmm *p, const struct shunt_profile *f,
                           const struct shunt_machine *m)
{
  const int64_t bytes = p->b.cols * (int64_t)shunt_type_size(p->b.type);
  const struct shunt_fit_costs *c = bytes > 32 ? &of(m)->scattered[shunt_cost_block_type(p->b.type)]
                                    : shunt_cost_is_half(p) ? &of(m)->unstaged_half
                                                            : &of(m)->unstaged;
  return shunt_cost_fitted(c, p, (double)p->a.nnz, shunt_cost_longest(&p->a, f), m);
}

/* By the lines that the kernel is cut by; as if scattered where it is not. */
static double layer_us(const struct shunt_spmm *p, const struct shunt_profile *f,
                       const struct shunt_machine *m)
{
  const struct shunt_device d = {.multiprocessors = shunt_cost_multiprocessors(m)};
  const double us = f ? shunt_sorted_spmm_us(p, &f->lengths, &d) : 0;
  const struct shunt_fit_costs *c = &of(m)->lines[shunt_cost_block_type(p->b.type)];
  return us > 0 ? c->start + c->lines * us : scattered_us(p, f, m);
}

double shunt_cost_sorted(const struct shunt_spmm *p, const struct shunt_profile *f,
                         const struct shunt_machine *m)
{
  return (shunt_cost_scattered(&p->a) ? scattered_us(p, f, m) : layer_us(p, f, m)) +
         shunt_cost_copy_of_b(p, m) + shunt_cost_columns_of_c(p, SHUNT_ROWS_BY_LENGTH, m);
}
