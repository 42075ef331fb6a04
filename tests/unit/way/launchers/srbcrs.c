/* srbcrs.c: the launchers of srbcrs.  In the trace: R a conversion, r a product.  */
#include "conv/srbcrs/srbcrs_conv.h"
#include "kernels/srbcrs/srbcrs_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

PACKED(srbcrs, shunt_srbcrs, shunt_srbcrs_spmm_host)

struct to_srbcrs {
  struct shunt_csr a;
  struct shunt_srbcrs_layout layout;
  struct shunt_srbcrs v;
};
static void to_srbcrs(const void *arguments)
{
  const struct to_srbcrs *x = arguments;
  shunt_csr_to_srbcrs_host(&x->a, &x->layout, &x->v);
}
shunt_status shunt_csr_to_srbcrs_cuda(const struct shunt_csr *a,
                                      const struct shunt_srbcrs_layout *layout,
                                      const struct shunt_srbcrs *v, const struct shunt_device *d,
                                      shunt_stream s)
{
  (void)d;
  return KERNEL('R', s, to_srbcrs, *a, *layout, *v);
}
size_t shunt_srbcrs_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, 0;
}
struct shunt_srbcrs_shape shunt_srbcrs_spmm_shape(const struct shunt_spmm *p, int height,
                                                  const struct shunt_device *d)
{
  (void)p, (void)height, (void)d;
  return (struct shunt_srbcrs_shape){64, 1, 0};
}
shunt_status shunt_srbcrs_spmm_shaped_cuda(const struct shunt_spmm *p, const struct shunt_srbcrs *v,
                                           const struct shunt_srbcrs_shape *shape,
                                           const struct shunt_device *d, void *workspace,
                                           size_t bytes, shunt_stream s)
{
  (void)shape, (void)d, (void)workspace, (void)bytes;
  return KERNEL('r', s, srbcrs, *p, *v);
}

double shunt_srbcrs_spmm_proved_rounds(const struct shunt_spmm *p, int height,
                                       const struct shunt_srbcrs_shape *shape,
                                       const struct shunt_device *d)
{
  (void)height, (void)shape, (void)d;
  return p->beta.device || p->beta.host != 0 ? 0 : 1;
}
/* The product proves itself: the twin, and a repair behind it, of which one launch may fail. */
shunt_status shunt_srbcrs_spmm_proved_shaped_cuda(const struct shunt_spmm *p,
                                                  const struct shunt_srbcrs *v,
                                                  const struct shunt_srbcrs_shape *shape,
                                                  const struct shunt_guard *r,
                                                  const struct shunt_device *d, void *workspace,
                                                  size_t bytes, shunt_stream s)
{
  struct shunt_spmm product = *p;
  (void)shape, (void)d, (void)workspace, (void)bytes;
  product.only_if = NULL;
  (void)KERNEL('r', s, srbcrs, product, *v);
  return launch_repair(p, r, NULL, false, s);
}
