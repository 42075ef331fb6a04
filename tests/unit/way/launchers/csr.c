/* csr.c: the launchers of csr.  In the trace: c a product, s an SDDMM.  */
#include "kernels/csr/csr_kernels.h"
#include "tests/unit/way/launchers/launchers.h"

struct spmm {
  struct shunt_spmm p;
};
static void spmm(const void *arguments)
{
  const struct shunt_spmm *p = &((const struct spmm *)arguments)->p;
  if (device.no_sums || (p->only_if && !*p->only_if)) return;
  if (shunt_type_is_complex(p->compute))
    shunt_csr_spmm_complex_host(p);
  else
    shunt_csr_spmm_host(p);
}
shunt_status launch_spmm(char letter, const struct shunt_spmm *p, shunt_stream s)
{
  return KERNEL(letter, s, spmm, *p);
}

/* Wide products want more than is asked for where memory is short. */
size_t shunt_csr_spmm_workspace(const struct shunt_spmm *p, const struct shunt_device *d)
{
  return (void)d, p->b.cols > 64 ? (size_t)2 << 20 : ROOM;
}
shunt_status shunt_csr_spmm_merge_cuda(const struct shunt_spmm *p, const struct shunt_device *d,
                                       void *workspace, size_t bytes, shunt_stream s)
{
  if (!workspace || bytes < shunt_csr_spmm_workspace(p, d)) return SHUNT_E_WORKSPACE;
  return launch_spmm('c', p, s);
}
shunt_status shunt_csr_spmm_split_cuda(const struct shunt_spmm *p, int64_t longest,
                                       const struct shunt_device *d, void *workspace, size_t bytes,
                                       shunt_stream s)
{
  device.longest = longest;
  if (p->b.col_stride != 1) return shunt_csr_spmm_merge_cuda(p, d, workspace, bytes, s);
  return launch_spmm('c', p, s);
}

struct sddmm {
  struct shunt_sddmm p;
};
static void sddmm(const void *arguments)
{
  shunt_csr_sddmm_host(&((const struct sddmm *)arguments)->p);
}
shunt_status launch_sddmm(char letter, const struct shunt_sddmm *p, shunt_stream s)
{
  return KERNEL(letter, s, sddmm, *p);
}
size_t shunt_csr_sddmm_workspace(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  return (void)d, shunt_csr_sddmm_direct(p) ? 0 : ROOM;
}
shunt_status shunt_csr_sddmm_cuda(const struct shunt_sddmm *p,
                                  struct shunt_csr_sddmm_pattern pattern,
                                  const struct shunt_device *d, void *workspace, size_t bytes,
                                  shunt_stream s)
{
  (void)pattern;
  if (bytes < shunt_csr_sddmm_workspace(p, d)) return SHUNT_E_WORKSPACE;
  (void)workspace;
  return launch_sddmm('s', p, s);
}
