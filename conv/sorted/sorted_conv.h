/* sorted_conv.h: the order of a matrix' rows by length (kernels/sorted/sorted_format.h).

   The rules of kernels/common/device.h.  Nothing waits for the device.  Thread-safe for different
   outputs.  */
#ifndef SHUNT_CONV_SORTED_H
#define SHUNT_CONV_SORTED_H

#include "kernels/common/device.h"
#include "kernels/sorted/sorted_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of memory for the order of `a`, of which the rows and the index type are read; 0: cannot be
   made (no rows, 2^30 and more, an index type that there is not).  */
size_t shunt_sorted_bytes(const struct shunt_csr *a);

/* The arrays in `memory` (256-byte aligned, that many bytes); only pointers are computed.  False
   when shunt_sorted_bytes says 0.  */
bool shunt_sorted_lay_out(const struct shunt_csr *a, void *memory, struct shunt_sorted *out);

/* Fills `out`, laid out for a matrix of a's rows: a counting sort, by runs of rows.  Of `a` offsets
   are read; whatever they are, each row gets a place.  Stable; the two write the same counts, order
   and kinds.  Device: enqueues only, legal in stream capture.

   Bound on the device by three launches; offsets are read once, kinds twice.

   SHUNT_E_UNSUPPORTED: bytes says 0.  SHUNT_E_ARGUMENT: `out` is for other sizes.  SHUNT_E_CUDA: a
   launch failed; `out` holds nothing.  */
shunt_status shunt_csr_to_sorted_host(const struct shunt_csr *a, const struct shunt_sorted *out);
shunt_status shunt_csr_to_sorted_cuda(const struct shunt_csr *a, const struct shunt_sorted *out,
                                      const struct shunt_device *d, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
