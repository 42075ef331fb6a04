/* semiring_masked_rows.h: inside of the masked products: a sparse operand by row with 32-bit
   indices, and the sums over what two rows share.  */
#ifndef SHUNT_SEMIRING_MASKED_ROWS_H
#define SHUNT_SEMIRING_MASKED_ROWS_H

#include "kernels/semiring/semiring_masked.h"

/* By row, not hypersparse: row i has the entries offsets[i] <= p < offsets[i + 1].  Values as in
   shunt_sparse, of entry p.  */
struct shunt_rows {
  int64_t rows, cols, nnz;
  const int64_t *offsets;
  const uint32_t *indices;
  const void *values;
  bool iso;
  void *owned[3]; /* what was made for it */
};

/* False: no memory. */
bool shunt_rows_make(const struct shunt_sparse *s, size_t size, bool use_values, int threads,
                     struct shunt_rows *out);
void shunt_rows_free(struct shunt_rows *r);

/* Do they have the same index arrays? */
bool shunt_same_pattern(const struct shunt_sparse *a, const struct shunt_sparse *b);
/* Is T symmetric?  Then mirror [m.nnz], to be freed, says where (j,i) stands for (i,j), and
   operands that the proof covers are said to be by row.  To be freed even if not.  */
bool shunt_find_symmetry(struct shunt_masked_dot *p, uint32_t **mirror);

/* Pairs of entries that meet: a[h] of A and b[h] of B. */
struct shunt_meetings {
  int64_t count;
  int64_t *a, *b;
};

/* Their sum, at least one, to out[at]. */
typedef void (*shunt_sum)(const struct shunt_semiring *by, const struct shunt_rows *a,
                          const struct shunt_rows *b, const struct shunt_meetings *met, void *out,
                          int64_t at);
/* NULL: a type that is not built. */
shunt_sum shunt_sum_of(shunt_type t);

/* count terms of PLUS of PAIR, to out[at]. */
void shunt_store_count(shunt_type t, int64_t count, void *out, int64_t at);

#endif
