/* skewness.h: how entries crowd into rows of vertical strips (the inputs of SSF and SSF itself, as
   conv/dcsr_traffic.h defines them), counted on the device beside the profile.

     filled rows   rows with an entry
     segments      rows of strips with an entry
     weight        sum over segments of m log m, m its entries (stored ones: repeats count)

     H_norm = (log nnz - weight / nnz) / log nnz            0 if nnz < 2
     SSF    = nnz x filled_rows / (segments / strips) x (1 - H_norm)

   Fujiki, Chatterjee, Lee and O'Connor, SC '19, equation 1 and the heuristic on it.  */
#ifndef SHUNT_CONV_SKEWNESS_H
#define SHUNT_CONV_SKEWNESS_H

#include "conv/shunt_conv.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shunt_skewness {
  int64_t nnz, filled_rows, segments, strips;
  int64_t guessed_rows; /* _cuda: over SHUNT_SKEWNESS_LONG entries and strips not in order;
                           each run of one strip was counted as a segment there */
  double weight;        /* _cuda: in steps of 2^-24 a segment, so that sums do not vary */
  double entropy, ssf;
  uint64_t serial; /* written last by the device: equals the serial asked for */
};

enum { SHUNT_SKEWNESS_SCRATCH = 64, SHUNT_SKEWNESS_LONG = 1024 };

/* Strips of `width` columns.  SHUNT_E_ARGUMENT: a bad matrix or width below 1; SHUNT_E_MEMORY;
   SHUNT_E_UNSUPPORTED: index type.  */
shunt_status shunt_skewness_csr_host(const struct shunt_csr *a, int64_t width,
                                     struct shunt_skewness *out);
/* The same; rows whose offsets are impossible count as empty.  out: pinned host memory, as in
   shunt_profile_csr_cuda; scratch: SHUNT_SKEWNESS_SCRATCH bytes of device memory, zeroed
   inside.  */
shunt_status shunt_skewness_csr_cuda(const struct shunt_csr *a, int64_t width, uint64_t serial,
                                     struct shunt_skewness *out, void *scratch,
                                     const struct shunt_device *d, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
