/* bsr.c: the launchers of bsr.  In the trace: k a product.  */
#include "kernels/bsr/bsr_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

struct blocks {
  struct shunt_spmm p;
  struct shunt_block_shape shape;
};
static void blocks(const void *arguments)
{
  const struct blocks *b = arguments;
  shunt_bsr_spmm_host(&b->p, &b->shape);
}
shunt_status shunt_bsr_spmm_check(const struct shunt_spmm *p, const struct shunt_block_shape *shape)
{
  return p->a.value_type == p->b.type && shape->size > 0 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}
size_t shunt_bsr_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, ROOM;
}
shunt_status shunt_bsr_spmm_cuda(const struct shunt_spmm *p, const struct shunt_block_shape *shape,
                                 const struct shunt_device *d, void *workspace, size_t bytes,
                                 shunt_stream s)
{
  (void)d;
  if (!workspace || bytes < ROOM) return SHUNT_E_WORKSPACE;
  return KERNEL('k', s, blocks, *p, *shape);
}
