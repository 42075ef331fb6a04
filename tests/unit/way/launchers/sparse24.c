/* sparse24.c: the launchers of sparse24.  In the trace: 2 a conversion, 4 a product.  */
#include "conv/sparse24/sparse24_conv.h"
#include "kernels/guard/guard.h"
#include "kernels/sparse24/sparse24_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

PACKED(sparse24, shunt_sparse24, shunt_sparse24_spmm_host)

struct to_sparse24 {
  struct shunt_csr a;
  struct shunt_sparse24 v;
  uint32_t *irregular;
};
static void to_sparse24(const void *arguments)
{
  const struct to_sparse24 *x = arguments;
  shunt_csr_to_sparse24_host(&x->a, &x->v, x->irregular);
}
shunt_status shunt_csr_to_sparse24_cuda(const struct shunt_csr *a, const struct shunt_sparse24 *v,
                                        uint32_t *irregular, const struct shunt_device *d,
                                        shunt_stream s)
{
  (void)d;
  return KERNEL('2', s, to_sparse24, *a, *v, irregular);
}
bool shunt_sparse24_spmm_built(void)
{
  return true;
}
/* The product proves itself: the twin, to where the guard says, and a repair behind it. */
shunt_status shunt_sparse24_spmm_shaped_cuda(const struct shunt_spmm *p,
                                             const struct shunt_sparse24 *v,
                                             enum shunt_sparse24_shape shape, bool in_place,
                                             const struct shunt_sparse24_proof *proof,
                                             const struct shunt_guard *r,
                                             const struct shunt_device *d, shunt_stream s)
{
  struct shunt_spmm product = *p;
  (void)shape, (void)proof, (void)d;
  if (in_place) return SHUNT_E_UNSUPPORTED;
  product.only_if = NULL;
  product.c = *r->product;
  if (product.c.values != p->c.values)
    product.alpha = (struct shunt_scalar){.host = 1}, product.beta = (struct shunt_scalar){0};
  (void)KERNEL('4', s, sparse24, product, *v);
  return launch_repair(p, r, NULL, false, s);
}
