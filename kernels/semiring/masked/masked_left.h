/* masked_left.h: inside of T<M> = A B': pairs that are computed from B's row, in a second pass. */
#ifndef SHUNT_MASKED_LEFT_H
#define SHUNT_MASKED_LEFT_H

#include "kernels/semiring/masked/masked_pairs.h"

/* Row of A, and entry of M. */
struct shunt_left_pair {
  uint32_t row, at;
};

struct shunt_masked_left {
  int64_t *offsets; /* [b.rows + 1] where those of a row of B begin */
  struct shunt_left_pair *pairs;
};

/* Is this pair left, by the lengths of A's and B's row? */
static inline bool shunt_masked_is_left(int64_t la, int64_t lb)
{
  return lb > 2 * la && lb > 2 * SHUNT_FEW;
}

/* Does that save more than the sorting costs, by a sample? */
bool shunt_masked_worth_leaving(const struct shunt_masked_dot_work *x);

/* False: no memory. */
bool shunt_masked_left_make(struct shunt_masked_dot_work *x, struct shunt_masked_left *left);
/* Of memory that it takes, at most. */
size_t shunt_masked_left_bytes(const struct shunt_masked_dot *p, int threads);

#endif
