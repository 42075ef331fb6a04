/* masked_pairs.h: inside of T<M> = A B': the pairs of one row.

   A row that has several pairs is marked once; each of the other rows is scanned for what is
   marked,
   or, where it is far longer, the marked row's entries are sought in it.  */
#ifndef SHUNT_MASKED_PAIRS_H
#define SHUNT_MASKED_PAIRS_H

#include "kernels/semiring/masked/masked_work.h"

/* The other row's entries, and the entry of M that is computed. */
struct shunt_masked_pair {
  int64_t begin, length, at;
};

/* Which operand's rows are marked; `by` has the marked one first. */
struct shunt_masked_side {
  const struct shunt_rows *marked, *scanned;
  struct shunt_semiring by;
};

/* What a thread has. */
struct shunt_masked_marks {
  uint8_t *is_marked; /* [k] */
  void *value_of;     /* [k] of what is marked; NULL: those values are not read */
  uint32_t *met;      /* [longest scanned] the same */
  struct shunt_masked_pair *pairs;
};

/* Is it cheaper to seek each of `few` in the other row than to scan that? */
bool shunt_worth_seeking(int64_t few, int64_t many);

/* Entries of k [n] that are among few [n_few], which are sought: their number, and to met, unless
   that is NULL, where they stand.  */
int64_t shunt_masked_seek(const uint32_t *few, int64_t n_few, const uint32_t *k, int64_t n,
                          uint32_t *met);

/* t->pairs [n] of row r; fills x->counts, or x->values and x->exists, at their places. */
void shunt_masked_pairs(const struct shunt_masked_dot_work *x, const struct shunt_masked_side *s,
                        const struct shunt_masked_marks *t, int64_t r, int64_t n);

/* The same for counts, of a row of so few entries, by comparing all with all. */
enum { SHUNT_FEW = 16 };
bool shunt_masked_has_few(void); /* on this machine */
void shunt_masked_few(const uint32_t *few, int64_t n_few, const uint32_t *indices,
                      const struct shunt_masked_pair *pairs, int64_t n, uint32_t *counts);

#endif
