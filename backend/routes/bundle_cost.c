/* bundle_cost.c: what the kernel of `bundle` is expected to take. */
#include "backend/routes/cost_forms.h"

double shunt_cost_bundle(const struct shunt_spmm *p, double vectors, double longest,
                         const struct shunt_machine *m)
{
  const struct shunt_fit_costs *c =
      p->b.type == SHUNT_F64 ? &m->costs->ours.bundle.f64 : &m->costs->ours.bundle.f32;
  return shunt_cost_fitted(c, p, vectors, longest, m) + shunt_cost_copy_of_b(p, m);
}
