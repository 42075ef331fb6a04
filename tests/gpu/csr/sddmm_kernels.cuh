// sddmm_kernels.cuh: the SDDMM kernels of the csr, vector and dense routes, called alike.
#pragma once
#include "kernels/csr/csr_kernels.h"
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
template <bool Alike>
shunt_status launch_csr(const shunt_sddmm *p, const shunt_device *d, void *workspace, size_t bytes,
                        shunt_stream stream)
{
  return shunt_csr_sddmm_cuda(p, Alike, d, workspace, bytes, stream);
}
inline const Kernel CSR = {"csr", shunt_csr_sddmm_workspace, launch_csr<false>};
inline const Kernel ALIKE = {"csr-alike", shunt_csr_sddmm_workspace, launch_csr<true>};
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
