/* bsr_cost.c: what the kernels of `bsr` are expected to take. */
#include "backend/routes/cost/cost_forms.h"

double shunt_cost_bsr(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                      const struct shunt_machine *m)
{
  /* Of int8 each 8 rows gather B for themselves. */
  const int64_t size = p->a.value_type == SHUNT_I8 && shape->size > 8 ? 8 : shape->size;
  return shunt_cost_blocks(m->costs->ours.bsr.fit[shunt_cost_block_type(p->a.value_type)], p,
                           size) +
         shunt_cost_copy_of_b(p, m);
}
