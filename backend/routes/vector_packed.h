/* vector_packed.h: what `vector` keeps of a matrix.

   Packed, SpMM of f16 and bf16, and of f32 where SHUNT_MATH allows TF32: a packed copy as of
   packed_product.h in the `vector` format (kernels/vector/vector_format.h), made where product and
   proof are expected to take less than the direct way, and used where they are.  The kernels
   compute a sum that became NaN again from A's own entries, so that nothing has to be probed; a
   matrix that does not fit its memory is irregular.

   Ordered: where neighbouring rows share few columns, another order of the rows is looked for, in
   which they share many (conv/vector/row_clusters.h).  That search is the study.  What the order is
   worth is known only when it has been found:

     call 2, 3 ..  the product as before, by whatever route.  When such calls have taken, or saved
                   against the original, as much time as the study takes, and vectors without a gap
                   would pay: the study, once for each content of the matrix
     later         the study's counts are there.  Where they pay, the copy is packed in that order,
                   in place of another route's copy if need be; else nothing more is done

   How the copy is packed (struct packing) follows from the profile and the study.  Both may have
   changed by a later call, so it is noted beside the copy.

   The study's payload: row_of | scratch.  Its measures: struct shunt_vector_measure.  */
#ifndef SHUNT_VECTOR_PACKED_H
#define SHUNT_VECTOR_PACKED_H

#include "backend/routes/packed_product.h"
#include "backend/routes/route.h"

/* Rows of A that a gathered row of B has to serve (shunt_cost_vector_reuse).  Less is for `csr`,
   which has most of B in L1 where pairs of rows are alike. */
#define SHUNT_VECTOR_LEAST_REUSE 1.6

/* Bytes of the workspace that a product from a packed copy wants; 0: none can be packed. */
size_t shunt_vector_packed_workspace(const struct shunt_call *c);
/* Does this call have a packed copy, or shall it, that it is to use? */
bool shunt_vector_takes_packed(const struct shunt_call *c);
/* Is the copy that it has, or may come to have, in the order of a study? */
bool shunt_vector_in_order(const struct shunt_call *c);
/* Of a call that takes it. */
double shunt_vector_packed_us(const struct shunt_call *c, double reuse);

extern const struct shunt_packed_format shunt_vector_packed;

/* The route's own. */
size_t shunt_vector_pack_bytes(const struct shunt_call *c);
shunt_status shunt_vector_pack(const struct shunt_call *c, const struct shunt_packed_view *into);
size_t shunt_vector_study_bytes(const struct shunt_call *c);
shunt_status shunt_vector_study(const struct shunt_call *c, const struct shunt_packed_view *into);

#endif
