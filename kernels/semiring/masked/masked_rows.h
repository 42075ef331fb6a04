/* masked_rows.h: inside of the masked products: a sparse operand by row with 32-bit
   indices, and the sums over what two rows share.  */
#ifndef SHUNT_MASKED_ROWS_H
#define SHUNT_MASKED_ROWS_H

#include "kernels/semiring/masked/masked.h"
#include "kernels/semiring/semiring_scratch.h"

/* The call's scratch, in pieces; all of it is let go of at once. */
struct shunt_masked_memory {
  struct shunt_scratch block;
  size_t used;
};
/* A piece, aligned to 64 bytes; NULL: more than the block has. */
void *shunt_masked_piece(struct shunt_masked_memory *m, size_t bytes);
/* Of the block for a piece. */
static inline size_t shunt_piece_bytes(int64_t n, size_t size)
{
  return shunt_whole_lines((size_t)n * size);
}

/* By row, not hypersparse: row i has the entries offsets[i] <= p < offsets[i + 1].  Values as in
   shunt_sparse, of entry p.  */
struct shunt_rows {
  int64_t rows, cols, nnz;
  const int64_t *offsets;
  const uint32_t *indices;
  const void *values;
  bool iso;
};

/* Of 1, 4 or 8 bytes. */
static inline void shunt_copy_element(void *to, int64_t at, const void *from, int64_t q,
                                      size_t size)
{
  if (size == 4)
    ((uint32_t *)to)[at] = ((const uint32_t *)from)[q];
  else if (size == 8)
    ((uint64_t *)to)[at] = ((const uint64_t *)from)[q];
  else
    ((uint8_t *)to)[at] = ((const uint8_t *)from)[q];
}

/* s's indices, 32 bits wide, to `to` [nnz], from 64-bit ones. */
void shunt_narrow_indices(const struct shunt_sparse *s, int threads, uint32_t *to);

/* narrow: its indices, 32 bits wide, if they are at hand; they are borrowed.  False: no memory. */
bool shunt_rows_make(const struct shunt_sparse *s, size_t size, bool use_values,
                     const uint32_t *narrow, int threads, struct shunt_masked_memory *memory,
                     struct shunt_rows *out);
/* Of memory that it takes, at most. */
size_t shunt_rows_bytes(const struct shunt_sparse *s, size_t size, bool use_values, int threads);

/* Threads that sort entries by keys, each with counts of its own: few where keys are many. */
static inline int shunt_masked_sorters(int threads, int64_t entries, int64_t keys)
{
  const int64_t most = 1 + 2 * entries / (keys + 1);
  return most < threads ? (int)most : threads;
}
/* counts [threads][keys], of each thread, become where its first one of that key stands, in the
   order
   of keys and then of threads; offsets [keys + 1] where those of a key begin.  */
void shunt_masked_starts(uint32_t *counts, int threads, int64_t keys, int64_t *offsets);

/* Are they the same, by address or by content? */
bool shunt_same_pattern(const struct shunt_sparse *a, const struct shunt_sparse *b);
bool shunt_same_values(const struct shunt_sparse *a, const struct shunt_sparse *b, size_t size);

/* Entries met[h] of a row of B meet: in columns k[met[h]].  A's values are at those columns of a[],
   B's at met[h] of b[], unless they are one.  */
struct shunt_terms {
  int64_t count;
  const uint32_t *met, *k;
  const void *a, *b;
  bool a_is_one, b_is_one;
};

/* Their sum, at least one, to out[at], in the order of h. */
typedef void (*shunt_sum)(const struct shunt_semiring *by, const struct shunt_terms *terms,
                          void *out, int64_t at);
/* NULL: a type that is not built. */
shunt_sum shunt_sum_of(const struct shunt_semiring *by);

#endif
