/* bundle_cost.c: what the kernel of `bundle` is expected to take. */
#include "backend/routes/cost_forms.h"

/* Fitted to 26 matrices of SuiteSparse and SNAP at 8, 32 and 128 columns, and six meshes of 10^5 to
   10^6 rows: the ones that choose best between `bundle` and `csr`; 1.15 off.  */
static const struct shunt_bundle_costs h200 = {
    .f32 = {.start = 3.05, .gather = 72, .written = 843, .row = 14, .list = 26.9, .longest = 13.5},
    .f64 = {.start = 4.13,
            .entry = 0.52,
            .gather = 86,
            .written = 475,
            .row = 90,
            .list = 20.2,
            .longest = 11.8}};

double shunt_cost_bundle(const struct shunt_spmm *p, double vectors, double longest,
                         const struct shunt_device *d)
{
  const struct shunt_fit_costs *c = p->b.type == SHUNT_F64 ? &h200.f64 : &h200.f32;
  return shunt_cost_fitted(c, p, vectors, longest, d) + shunt_cost_copy_of_b(p, d);
}
