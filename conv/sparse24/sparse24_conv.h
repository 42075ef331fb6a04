/* sparse24_conv.h: CSR to the `sparse24` format (kernels/sparse24/sparse24_format.h) and back.

   The rules of kernels/common/device.h.  */
#ifndef SHUNT_CONV_SPARSE24_H
#define SHUNT_CONV_SPARSE24_H

#include "kernels/common/device.h"
#include "kernels/sparse24/sparse24_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of memory for packing `a`, of which sizes and types are read, no arrays; 0: cannot be
   packed (value type neither of 16 bits nor int8, a size of 0 or near 2^31).  0.56
   of those of a dense copy, 0.63 for int8; with positions 0.63 (int32 columns) or 0.69.  */
size_t shunt_sparse24_bytes(const struct shunt_csr *a);

/* Packed `a` in `memory` (256-byte aligned, at least that many bytes); nothing is written
   there.  False when shunt_sparse24_bytes says 0.  */
int shunt_sparse24_lay_out(const struct shunt_csr *a, void *memory, struct shunt_sparse24 *out);

/* Packs a into v, laid out before for a matrix of the same sizes.  *irregular (a device word for
   _cuda) is OR-ed with SHUNT_IRREGULAR when four aligned columns of a row hold more than two
   entries, a row's columns are not strictly ascending, or an offset or column is out of range; v
   then stands for some other matrix of the same sizes, so that a kernel may run on it before the
   host knows.  Otherwise the two functions write the same bytes.  SHUNT_E_ARGUMENT: v is not for
   a's sizes.  */
shunt_status shunt_csr_to_sparse24_cuda(const struct shunt_csr *a, const struct shunt_sparse24 *v,
                                        uint32_t *irregular, const struct shunt_device *d,
                                        shunt_stream stream);
shunt_status shunt_csr_to_sparse24_host(const struct shunt_csr *a, const struct shunt_sparse24 *v,
                                        uint32_t *irregular);

/* v as CSR, all values but +0, columns ascending: the entries it was made from, less those of
   value +0.  a's arrays are host memory with room for v->rows + 1 and all values; a's index type
   and base are the caller's choice; sizes and value type are set.  */
shunt_status shunt_sparse24_to_csr_host(const struct shunt_sparse24 *v, struct shunt_csr *a);

#ifdef __cplusplus
}
#endif
#endif
