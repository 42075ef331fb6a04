// sddmm_kernels.cuh: the SDDMM kernels of the csr, vector and dense routes, called alike.
#pragma once
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_sddmm_operands.cuh"
#include "kernels/dense/dense_kernels.h"
#include "kernels/vector/vector_kernels.h"
#include "tests/gpu/common/harness.cuh"

namespace harness
{

typedef size_t (*workspace_fn)(const shunt_sddmm *, const shunt_device *);
typedef shunt_status (*launch_fn)(const shunt_sddmm *, const shunt_device *, void *, size_t,
                                  shunt_stream);
struct Kernel {
  const char *name;
  workspace_fn workspace;
  launch_fn launch;
};
inline shunt_status launch_csr(const shunt_sddmm *p, const shunt_device *d, void *workspace,
                               size_t bytes, shunt_stream stream)
{
  return shunt_csr_sddmm_cuda(p, {}, d, workspace, bytes, stream);
}
inline const Kernel CSR = {"csr", shunt_csr_sddmm_workspace, launch_csr};

// The same without the tiles of small products.
inline size_t copied_workspace(const shunt_sddmm *p, const shunt_device *d)
{
  return shunt::csr::sddmm::operands_bytes(p) + shunt::csr::sddmm::panel_bytes(p, d);
}
template <bool Alike, bool Crowded = false>
shunt_status launch_copied(const shunt_sddmm *p, const shunt_device *d, void *workspace,
                           size_t bytes, shunt_stream stream)
{
  const shunt_status s = shunt::csr::sddmm::check_problem(p);
  if (s != SHUNT_OK || p->c.nnz == 0) return s;
  return shunt::csr::sddmm::copied(p, {Alike, Crowded}, d, workspace, bytes, stream);
}
// By tiles where that is possible, of whatever size.
inline shunt_status launch_direct(const shunt_sddmm *p, const shunt_device *d, void *workspace,
                                  size_t bytes, shunt_stream stream)
{
  const shunt_status s = shunt::csr::sddmm::check_problem(p);
  if (s != SHUNT_OK || p->c.nnz == 0) return s;
  if (p->b.col_stride != 1) return shunt::csr::sddmm::copied(p, {}, d, workspace, bytes, stream);
  return shunt::csr::sddmm::direct(p, d, stream);
}
inline const Kernel DIRECT = {"csr-direct", copied_workspace, launch_direct};
inline const Kernel COPIED = {"csr-copied", copied_workspace, launch_copied<false>};
inline const Kernel CROWDED = {"csr-crowded", copied_workspace, launch_copied<false, true>};
inline const Kernel ALIKE = {"csr-alike", copied_workspace, launch_copied<true>};
inline const Kernel VECTOR = {"vector", shunt_vector_csr_sddmm_workspace,
                              shunt_vector_csr_sddmm_cuda};

inline size_t no_workspace(const shunt_sddmm *, const shunt_device *)
{
  return 0;
}
inline shunt_status launch_dense(const shunt_sddmm *p, const shunt_device *d, void *, size_t,
                                 shunt_stream stream)
{
  return shunt_dense_sddmm_cuda(p, d, stream);
}
inline const Kernel DENSE = {"dense", no_workspace, launch_dense};

} // namespace harness
