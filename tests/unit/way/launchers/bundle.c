/* bundle.c: the launchers of bundle.  In the trace: B its hint, b a product.  */
#include "conv/bundle/bundle_conv.h"
#include "kernels/bundle/bundle_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

/* bundle multiplies what its hint says together, and the rest row by row: any hint is right. */
struct to_bundle {
  struct shunt_csr a;
  struct shunt_bundle v;
};
static void to_bundle(const void *arguments)
{
  const struct to_bundle *x = arguments;
  shunt_csr_to_bundle_host(&x->a, &x->v);
}
shunt_status shunt_csr_to_bundle_cuda(const struct shunt_csr *a, const struct shunt_bundle *v,
                                      const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('B', s, to_bundle, *a, *v);
}
size_t shunt_bundle_spmm_workspace(const struct shunt_spmm *p)
{
  return (void)p, ROOM;
}
struct shunt_bundle_shape shunt_bundle_spmm_shape(const struct shunt_spmm *p,
                                                  const struct shunt_bundle *hint,
                                                  const struct shunt_bundle_counts *known,
                                                  const struct shunt_device *d)
{
  (void)p, (void)hint, (void)known, (void)d;
  return (struct shunt_bundle_shape){.lanes_log2 = 5};
}
shunt_status shunt_bundle_spmm_cuda(const struct shunt_spmm *p, const struct shunt_bundle *hint,
                                    const struct shunt_bundle_shape *shape,
                                    const struct shunt_device *d, void *workspace, size_t bytes,
                                    shunt_stream s)
{
  (void)hint, (void)shape, (void)d;
  if (!workspace || bytes < ROOM) return SHUNT_E_WORKSPACE;
  return launch_spmm('b', p, s);
}
