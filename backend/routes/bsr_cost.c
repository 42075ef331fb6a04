/* bsr_cost.c: what the kernels of `bsr` are expected to take. */
#include "backend/routes/cost_forms.h"

/* 4096 x 4096 with 2 to 30 % of the blocks, 256 and 1024 columns. */
static const struct shunt_bsr_costs h200 = {
    {{{2, 5, 116, 0}, {4, 4, 55, 0}, {8, 4, 27, 0}, {16, 5, 16.5, 0}, {32, 5.5, 16.7, 0}},
     {{2, 6, 300, 0}, {4, 4, 130, 0}, {8, 4, 87, 0}, {16, 4, 85, 0}, {32, 4, 85, 0}},
     {{2, 8, 680, 0}, {4, 5, 330, 0}, {8, 4, 208, 0}, {16, 5, 232, 0}, {32, 5, 235, 0}}}};

double shunt_cost_bsr(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                      const struct shunt_device *d)
{
  return shunt_cost_blocks(h200.fit[shunt_cost_block_type(p->a.value_type)], p, shape->size, d) +
         shunt_cost_copy_of_b(p, d);
}
