/* bundle_conv.h: CSR to merged column lists of groups of 8 rows (kernels/bundle/bundle_format.h).

   The rules of kernels/common/device.h.  Nothing waits for the device: the memory is
   bounded by the number of entries.  Thread-safe for different outputs.  */
#ifndef SHUNT_CONV_BUNDLE_H
#define SHUNT_CONV_BUNDLE_H

#include "kernels/bundle/bundle_format.h"
#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of memory for the lists of `a`, of which sizes and index type are read, no arrays; 0:
   cannot be made (no rows or columns, index type, 2^31 - 1024 entries or columns and
   more).  Any value type: values are not read, and may be NULL.  */
size_t shunt_bundle_bytes(const struct shunt_csr *a);

/* The arrays in `memory` (256-byte aligned, that many bytes); only pointers are computed.  False
   when shunt_bundle_bytes says 0.  */
int shunt_bundle_lay_out(const struct shunt_csr *a, void *memory, struct shunt_bundle *out);

/* Fills `out`, laid out for a matrix of a's sizes.  Whatever the matrix is, nothing is read or
   written outside of the arrays; what is wrong with it makes groups irregular.  Deterministic; the
   two write the same counts and lists.  Device: enqueues only, legal in stream capture.

   Bound on the device by the latency of one merge step, some 200 cycles a vector, so
   by the longest group: about 10 us for groups of a hundred vectors, 1 ms for one of 10,000.

   SHUNT_E_UNSUPPORTED: bytes says 0.  SHUNT_E_ARGUMENT: `out` is for other sizes, or for fewer
   entries.  SHUNT_E_CUDA: a launch failed; `out` holds nothing.  */
shunt_status shunt_csr_to_bundle_host(const struct shunt_csr *a, const struct shunt_bundle *out);
shunt_status shunt_csr_to_bundle_cuda(const struct shunt_csr *a, const struct shunt_bundle *out,
                                      const struct shunt_device *d, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
