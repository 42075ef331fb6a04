// sddmm_kernels.cuh: the SDDMM kernels of the rows and vector routes, called alike.
#pragma once
#include "tests/gpu/harness.cuh"

namespace harness {

typedef size_t (*workspace_fn)(const shunt_sddmm *, const shunt_device *);
typedef shunt_status (*launch_fn)(const shunt_sddmm *, const shunt_device *, void *, size_t,
                                  shunt_stream);
struct Kernel {
  const char *name;
  workspace_fn workspace;
  launch_fn launch;
};
inline const Kernel ROWS = { "rows", shunt_sddmm_csr_rows_workspace, shunt_sddmm_csr_rows_cuda };
inline const Kernel VECTOR = { "vector", shunt_sddmm_csr_vector_workspace,
                               shunt_sddmm_csr_vector_cuda };

}  // namespace harness
