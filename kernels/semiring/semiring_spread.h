/* semiring_spread.h: a narrow B times S held by column, entry by entry. */
#ifndef SHUNT_SEMIRING_SPREAD_H
#define SHUNT_SEMIRING_SPREAD_H

#include "kernels/semiring/semiring_choice.h"

/* Threads that are worth a copy of C each; 0: sort S instead (semiring_sort.h). */
int shunt_spread_threads(const struct shunt_semiring_choice *choice, const struct shunt_sparse *s,
                         size_t size, int64_t cols, int threads);

/* Bytes of scratch for `threads` copies of C, of `cols` columns of `size` bytes. */
size_t shunt_spread_bytes(const struct shunt_sparse *s, size_t size, int64_t cols, int threads);

/* What is left to do, as a product of the same semiring: C = R (x) P where P holds the copies
   below each other, row-major, and R has an entry, the multiplier's neutral element, where a
   copy has a sum:

            | 1 .  1 . |       | copy of thread 0 |
       R =  | . 1  . . |   P = |------------------|      (2 rows of C, 2 threads)
            copy 0  copy 1     | copy of thread 1 |

   `job` says where S (held by column) and B are, and B's width, at most choice->kernels->narrow;
   R's arrays and P, which job->b and job->b_stride become, lie in `scratch`, aligned to 64 bytes.
   A copy's sums are in the order of S's entries, of which each thread takes an equal share.  */
void shunt_spread(const struct shunt_semiring_choice *choice, const struct shunt_sparse *s,
                  size_t size, int threads, void *scratch, struct shunt_rows_job *job,
                  struct shunt_sparse *r);

#endif
