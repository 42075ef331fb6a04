/* dcsr_kernels.h: C = alpha A B + beta C for A in the `dcsr` format.

   The rules of kernels/shunt_kernels.h.  Only sizes and types of p->a are read (and may be zero);
   A is `d`.  B and C may be row- or column-major, with any leading dimension.

     value type of A and B      C                compute
     f16, bf16                  the same, f32    f32
     f32                        f32              f32
     f64                        f64              f64

   SHUNT_E_UNSUPPORTED: other types.  SHUNT_E_ARGUMENT: shapes that do not match, or d is
   irregular.  */
#ifndef SHUNT_DCSR_KERNELS_H
#define SHUNT_DCSR_KERNELS_H

#include "kernels/dcsr_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- host: the slow twins, one thread (kernels/host/spmm_dcsr.c) ---------------------------- */

/* C-stationary: each element of C is summed at once, in the order of storage, and written once.
   d is whole (one strip, or none); more strips: SHUNT_E_UNSUPPORTED.  The same bits as
   shunt_spmm_csr_host on the CSR that d was made from.  */
shunt_status shunt_spmm_dcsr_rows_host(const struct shunt_spmm *p, const struct shunt_dcsr *d);

/* B-stationary: strip after strip, each segment is summed by itself and then added to what the
   row has from the strips before, in the compute type.  Any number of strips.
   workspace: shunt_spmm_dcsr_strips_workspace_host(p) bytes, 8-byte aligned, or
   SHUNT_E_WORKSPACE.  */
size_t shunt_spmm_dcsr_strips_workspace_host(const struct shunt_spmm *p);
shunt_status shunt_spmm_dcsr_strips_host(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                                         void *workspace, size_t workspace_bytes);

#ifdef __cplusplus
}
#endif
#endif
