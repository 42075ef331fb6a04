/* coo_conv.h: COO into CSR.

   The rules of kernels/common/device.h.  The two functions, _cuda on device memory and _host on
   host memory, write the same bytes.  */
#ifndef SHUNT_COO_CONV_H
#define SHUNT_COO_CONV_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* row_offsets[rows + 1] of a COO matrix whose row indices are ascending; the columns and values are
   shared as they are.  *irregular (may be NULL; device word for _cuda) is OR-ed with
   SHUNT_IRREGULAR when the row indices are not ascending or out of range; row_offsets is then
   unspecified but only its own memory was written.  */
shunt_status shunt_coo_to_csr_cuda(int64_t rows, int64_t nnz, const void *row_indices,
                                   shunt_type index_type, int base, void *row_offsets,
                                   uint32_t *irregular, const struct shunt_device *d,
                                   shunt_stream stream);
shunt_status shunt_coo_to_csr_host(int64_t rows, int64_t nnz, const void *row_indices,
                                   shunt_type index_type, int base, void *row_offsets,
                                   uint32_t *irregular);

#ifdef __cplusplus
}
#endif
#endif
