/* dense_conv.h: CSR into a dense matrix and back.

   The rules of kernels/common/device.h.  The two functions of a pair, _cuda on device memory and
   _host on host memory, write the same bytes.  */
#ifndef SHUNT_DENSE_CONV_H
#define SHUNT_DENSE_CONV_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dense (row-major, type a->value_type, row_stride >= cols) receives every entry of a, zeros
   elsewhere, padding columns up to row_stride included.  *irregular (may be NULL; device word for
   _cuda) is OR-ed with SHUNT_IRREGULAR when a column repeats within a row or is out of range; dense
   is then unspecified but only its own memory was written.  */
shunt_status shunt_csr_to_dense_cuda(const struct shunt_csr *a, const struct shunt_dense *dense,
                                     uint32_t *irregular, const struct shunt_device *d,
                                     shunt_stream stream);
shunt_status shunt_csr_to_dense_host(const struct shunt_csr *a, const struct shunt_dense *dense,
                                     uint32_t *irregular);
/* dense -> csr, entries != 0 (or NaN) only, columns ascending.  Arrays of `a`
   must be large enough; a->nnz is set.  Host only: tests use it. */
shunt_status shunt_dense_to_csr_host(const struct shunt_dense *dense, struct shunt_csr *a);

#ifdef __cplusplus
}
#endif
#endif
