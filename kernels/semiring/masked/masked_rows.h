/* masked_rows.h: inside of the masked products: a sparse operand by row with 32-bit
   indices, and the sums over what two rows share.  */
#ifndef SHUNT_MASKED_ROWS_H
#define SHUNT_MASKED_ROWS_H

#include "kernels/semiring/masked/masked.h"

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

/* 32-bit indices of 64-bit ones, to be freed; NULL: no memory. */
uint32_t *shunt_narrow_indices(const struct shunt_sparse *s, int threads);

/* narrow: its indices, 32 bits wide, if they are at hand; they are borrowed.  False: no memory. */
bool shunt_rows_make(const struct shunt_sparse *s, size_t size, bool use_values,
                     const uint32_t *narrow, int threads, struct shunt_rows *out);
void shunt_rows_free(struct shunt_rows *r);

/* Are they the same, by address or by content? */
bool shunt_same_pattern(const struct shunt_sparse *a, const struct shunt_sparse *b);
bool shunt_same_values(const struct shunt_sparse *a, const struct shunt_sparse *b, size_t size);

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

/* counts[p] times *term, for those p < n that are not 0, to out[at], out[at + 1] ... */
void shunt_store_counts(shunt_type t, const uint32_t *counts, int64_t n, const void *term,
                        void *out, uint64_t at);

#endif
