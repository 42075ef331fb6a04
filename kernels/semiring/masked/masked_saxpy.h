/* masked_saxpy.h: inside of T<M> = A B': rows of B' added up under the mask.

   Row i of T is the sum of A(i,k) (x) row k of B'.  A sum for each column is kept; those of M's row
   i are set to nothing first and read at the end.  What the others add up to is never looked at, so
   that no term asks whether it counts:

       M  row i          | j0    j1      j2 |
       sums of a thread  | 0  ?  0   ?  ? 0 |       before: ? is left from other rows
       row k of B'       |    j  j0     j2  |       added to all
       T  row i          | sums at j0, j1, j2; there where any term was added  |  */
#ifndef SHUNT_MASKED_SAXPY_H
#define SHUNT_MASKED_SAXPY_H

#include "kernels/semiring/masked/masked_work.h"

/* Adds a (x) b[h * step_b] to sums[k[h]], and sets seen there, for h < n. */
typedef void (*shunt_add)(const struct shunt_semiring *by, const uint32_t *k, int64_t n,
                          const void *a, const void *b, int64_t step_b, void *sums, uint8_t *seen);
/* Sets the sums at k[0 .. n) to what changes no term. */
typedef void (*shunt_clear)(const struct shunt_semiring *by, const uint32_t *k, int64_t n,
                            void *sums);
struct shunt_saxpy_sums {
  shunt_add add;
  shunt_clear clear;
};
struct shunt_saxpy_sums shunt_saxpy_sums_of(const struct shunt_semiring *by);

/* What is read of a row of B' under a row of M with n entries. */
int64_t shunt_saxpy_reads(int64_t n, int64_t length);

/* B' of the product, as it is held. */
struct shunt_sparse shunt_saxpy_operand(const struct shunt_masked_dot *p);

/* Fill counts, or exists and values; x->b has rows of B'.  False: no memory. */
bool shunt_masked_by_saxpy(struct shunt_masked_dot_work *x);
/* Of memory that it takes, beside the rows. */
size_t shunt_saxpy_bytes(const struct shunt_masked_dot *p, int threads);

#endif
