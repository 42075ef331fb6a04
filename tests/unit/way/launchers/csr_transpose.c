/* csr_transpose.c: transposes of CSR.  In the trace: A a transpose; a made anew from what was
   kept, and proved; v made anew without a proof.  */
#include "conv/csr/csr_conv.h"
#include "kernels/guard/fingerprint.h"
#include "tests/unit/way/launchers/launchers.h"

struct transpose {
  struct shunt_csr a;
  bool conjugate;
  struct shunt_transposed out;
};
static void transpose(const void *arguments)
{
  const struct transpose *x = arguments;
  shunt_csr_transpose_host(&x->a, x->conjugate, &x->out);
}
shunt_status shunt_csr_transpose_cuda(const struct shunt_csr *a, bool conjugate,
                                      const struct shunt_transposed *out,
                                      const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return KERNEL('A', s, transpose, *a, conjugate, *out);
}

struct refresh {
  struct shunt_csr a;
  bool conjugate, proves;
  struct shunt_transposed kept, out;
  struct shunt_transpose_proof proof;
};
static void refresh(const void *arguments)
{
  const struct refresh *x = arguments;
  const struct shunt_transpose_proof *p = x->proves ? &x->proof : NULL;
  const struct shunt_csr pattern = shunt_fp_pattern_of(&x->a);
  if (device.no_sums) return;
  const struct shunt_fingerprint now = shunt_fingerprint_csr_host(&pattern);
  device.changes += p && (now.lo != p->expected->lo || now.hi != p->expected->hi);
  shunt_transposed_refresh_host(&x->a, x->conjugate, &x->kept, p, &x->out);
}
shunt_status shunt_transposed_refresh_cuda(const struct shunt_csr *a, bool conjugate,
                                           const struct shunt_transposed *kept,
                                           const struct shunt_transpose_proof *proof,
                                           const struct shunt_transposed *out,
                                           const struct shunt_device *d, shunt_stream s)
{
  const struct shunt_transpose_proof none = {0};
  (void)d;
  return KERNEL(proof ? 'a' : 'v', s, refresh, *a, conjugate, proof != NULL, *kept, *out,
                proof ? *proof : none);
}
