/* csr_transposed.h: what backend/routes/csr.c shares with csr_transposed.c: products where op(A) is
   the transpose of what is stored by rows.

   The transpose is multiplied like any matrix in CSR.  What is kept of A is its transposed pattern
   and where each entry's value stands in A (conv/csr/csr_conv.h); the values are gathered anew in
   every call:

     kept     stream  gather, fingerprint of A's pattern -- (transpose) -- product
     promised stream  gather -- product                   the pattern is known to be the same
     direct   stream  transpose -- product                for those who want the same bits always

   The launch of the gather takes the fingerprint, too.  The launch behind it transposes A into the
   workspace if A's pattern has changed, and else ends at once.  So the product is always of A as it
   is now, is computed once, and C needs no repair.  Sums are in the order of A's rows in each way.

   Workspace, in this order, each part 256-byte aligned:
     the fingerprint's scratch | A^T to multiply by | csr's own
   Kept: A^T's pattern with places.  Measures: the longest row of A^T (uint32_t).  */
#ifndef SHUNT_ROUTES_CSR_TRANSPOSED_H
#define SHUNT_ROUTES_CSR_TRANSPOSED_H

#include "backend/routes/route.h"

/* As the functions of struct shunt_route. */
struct shunt_outcome shunt_csr_transposed_fits(const struct shunt_problem *p,
                                               const struct shunt_context *context);
size_t shunt_csr_transposed_workspace(const struct shunt_problem *p,
                                      const struct shunt_context *context);
struct shunt_outcome shunt_csr_transposed_expect(const struct shunt_call *c, double *us);
shunt_status shunt_csr_transposed_run(const struct shunt_call *c);
size_t shunt_csr_transposed_pack_bytes(const struct shunt_call *c);
shunt_status shunt_csr_transposed_pack(const struct shunt_call *c,
                                       const struct shunt_packed_view *into);

#endif
