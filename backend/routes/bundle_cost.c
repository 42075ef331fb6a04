/* bundle_cost.c: what the kernel of `bundle` is expected to take. */
#include "backend/routes/cost_forms.h"

/* Fitted as the scattered ones of `csr` (csr_cost.c). */
static const struct shunt_bundle_costs h200 = {.f32 = {.start = 2.37,
                                                       .gather = 144,
                                                       .written = 597,
                                                       .row = 28,
                                                       .list = 18.2,
                                                       .longest = 13.6,
                                                       .beyond = 5.62},
                                               .f64 = {.start = 2.75,
                                                       .entry = 0.26,
                                                       .gather = 118,
                                                       .written = 476,
                                                       .row = 57,
                                                       .list = 19.2,
                                                       .longest = 9.31,
                                                       .beyond = 5.64}};

double shunt_cost_bundle(const struct shunt_spmm *p, double vectors, double longest,
                         const struct shunt_device *d)
{
  const struct shunt_fit_costs *c = p->b.type == SHUNT_F64 ? &h200.f64 : &h200.f32;
  return shunt_cost_fitted(c, p, vectors, longest, d) + shunt_cost_copy_of_b(p, d);
}
