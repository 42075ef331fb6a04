/* csr_conv.h: the transpose of a CSR matrix, in CSR.

     A    rows x cols     offsets [rows + 1]    columns [nnz]   values [nnz]
     A^T  cols x rows     offsets [cols + 1]    columns [nnz]   places [nnz]   values [nnz]

   places[t] says where entry t of A^T stands in A's arrays:

     A          | a b . |    columns  0 1 2 1      A^T    | a . . |   columns  0 0 2 1
                | . . c |    values   a b c d             | b . d |   places   0 1 3 2
                | . d . |                                 | . c . |   values   a b d c

   Entries of a row of A^T stand in the order of their places, so that sums over them are always the
   same.  All indices are of 32 bits and begin at 0.  Columns of A may be unsorted and may repeat;
   entries whose column is none of A's are left out.

   What is kept of a matrix has places and no values.  What a call multiplies by has values and no
   places: they are gathered anew, from the places that were kept where A's pattern is still that of
   back then, else by transposing again.

   The rules of kernels/common/device.h.  Thread-safe for different outputs.  */
#ifndef SHUNT_CONV_CSR_H
#define SHUNT_CONV_CSR_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words in which the blocks of a launch share its work. */
struct shunt_transpose_words {
  uint32_t longest; /* row of A^T, of a whole transposition */
  uint32_t taken[5], done[5];
};

struct shunt_transposed {
  struct shunt_transpose_words *words;
  int32_t *offsets, *columns;
  int32_t *places; /* kept; else NULL */
  void *values;    /* to multiply by; else NULL */
};

/* Bytes of memory for A^T, of whose A sizes and types are read, no arrays; 0: cannot be made (index
   type, 2^31 - 1024 entries, rows or columns and more).  kept: with places, else with values.  */
size_t shunt_transposed_bytes(const struct shunt_csr *a, bool kept);
/* The arrays in `memory` (256-byte aligned, that many bytes); only pointers are computed.  False
   when shunt_transposed_bytes says 0.  */
bool shunt_transposed_lay_out(const struct shunt_csr *a, bool kept, void *memory,
                              struct shunt_transposed *out);
/* A^T with that pattern and values, either of which may be NULL, as what csr multiplies by. */
struct shunt_csr shunt_transposed_csr(const struct shunt_csr *a,
                                      const struct shunt_transposed *pattern, void *values);

/* Fills `out`, whatever A holds: nothing is read or written outside of the arrays.  conjugate:
   values of complex types are conjugated.  The twin writes the same bytes.  Device: one launch.  */
shunt_status shunt_csr_transpose_cuda(const struct shunt_csr *a, bool conjugate,
                                      const struct shunt_transposed *out,
                                      const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_csr_transpose_host(const struct shunt_csr *a, bool conjugate,
                                      const struct shunt_transposed *out);

/* Does A still have the pattern of what was kept? */
struct shunt_transpose_proof {
  void *scratch; /* device: SHUNT_FINGERPRINT_SCRATCH bytes, aligned to 16; not for the twin */
  const struct shunt_fingerprint *expected; /* device: of A's pattern, when it was kept */
  uint32_t *changed;                        /* pinned host word: set to 1 if not; or NULL */
};

/* Fills `out`, laid out to multiply by, from what was kept of a matrix of a's sizes.  With a proof
   out's pattern is A's, whatever that is by now; two launches.  Without one (NULL) the pattern is
   the kept one, out's is not written, and only values are gathered.  */
shunt_status shunt_transposed_refresh_cuda(const struct shunt_csr *a, bool conjugate,
                                           const struct shunt_transposed *kept,
                                           const struct shunt_transpose_proof *proof,
                                           const struct shunt_transposed *out,
                                           const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_transposed_refresh_host(const struct shunt_csr *a, bool conjugate,
                                           const struct shunt_transposed *kept,
                                           const struct shunt_transpose_proof *proof,
                                           const struct shunt_transposed *out);

#ifdef __cplusplus
}
#endif
#endif
