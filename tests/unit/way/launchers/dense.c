/* dense.c: the launchers of dense.  No test here needs them: they say that they are not built.  */
#include "conv/dense/dense_conv.h"
#include "kernels/common/dense_copy.h"
#include "kernels/dense/dense_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

shunt_status shunt_csr_to_dense_cuda(const struct shunt_csr *a, const struct shunt_dense *dense,
                                     uint32_t *irregular, const struct shunt_device *d,
                                     shunt_stream s)
{
  return (void)a, (void)dense, (void)irregular, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_copy_cuda(const struct shunt_dense *from, const struct shunt_dense *to,
                                   const struct shunt_device *d, shunt_stream s)
{
  return (void)from, (void)to, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_sddmm_cuda(const struct shunt_sddmm *p, const struct shunt_device *d,
                                    shunt_stream s)
{
  return (void)p, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_sddmm_sample_cuda(const struct shunt_sddmm *p,
                                           const struct shunt_dense *product, int prescaled,
                                           const struct shunt_device *d, shunt_stream s)
{
  return (void)p, (void)product, (void)prescaled, (void)d, (void)s, SHUNT_E_UNSUPPORTED;
}
bool shunt_dense_sddmm_takes(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, false;
}
bool shunt_dense_spmm_proved_takes(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)p, (void)d, false;
}
bool shunt_dense_spmm_fma_takes(const struct shunt_dense *b, const struct shunt_dense *c,
                                const struct shunt_device *on)
{
  return (void)b, (void)c, (void)on, false;
}
shunt_status shunt_dense_spmm_fma_cuda(const struct shunt_dense *d, const struct shunt_dense *b,
                                       const struct shunt_dense *c,
                                       const struct shunt_scalar *alpha,
                                       const struct shunt_dense_shape *shape, void *workspace,
                                       const struct shunt_device *on, shunt_stream s)
{
  (void)d, (void)b, (void)c, (void)alpha, (void)shape, (void)workspace, (void)on, (void)s;
  return SHUNT_E_UNSUPPORTED;
}
shunt_status shunt_dense_spmm_proved_cuda(const struct shunt_spmm *p,
                                          const struct shunt_dense *copy,
                                          const struct shunt_dense_shape *shape,
                                          const struct shunt_guard *r, const struct shunt_device *d,
                                          shunt_stream s)
{
  (void)p, (void)copy, (void)shape, (void)r, (void)d, (void)s;
  return SHUNT_E_UNSUPPORTED;
}
