/* packed_cost.c: what products from a packed copy are expected to take besides their launches, and
   whether that is worth making the copy.  */
#include "backend/plan/context.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/packed_product.h"

bool shunt_packed_is_large(size_t workspace, const struct shunt_context *context)
{
  return (double)workspace > (double)context->memory_bytes / 16;
}

double shunt_packed_expected_us(const struct shunt_call *c, double us, size_t copied)
{
  const struct shunt_machine *m = &c->context->machine;
  if (copied) us += shunt_cost_copy(2 * (double)copied, m);
  if (!shunt_packed_overwrites(&c->problem->spmm)) us += shunt_cost_combine(&c->problem->spmm, m);
  return us;
}

bool shunt_packed_gains(const struct shunt_call *c, double us, double made)
{
  const double csr = c->csr_us > 0
                         ? c->csr_us
                         : shunt_cost_csr(&c->problem->spmm, c->profile, &c->context->machine);
  return us + made / SHUNT_GAINED_WITHIN < csr;
}
