/* semiring_samples.h: how the loops of a product should go about S and B, by a look at some of S's
   entries: exact answers would cost as much as a pass over S.

   S has rows and columns, and `size` is the bytes of an element.  Nothing is changed, nothing
   fails.  */
#ifndef SHUNT_SEMIRING_SAMPLES_H
#define SHUNT_SEMIRING_SAMPLES_H

#include "kernels/semiring/semiring_kernels.h"

/* Should B, held by row, be copied to lines of the cache?  S has entries.  Every vector that
   straddles two lines costs as much as two, at each of the nnz / rows uses of a row, while a copy
   is made once.  Where rows of B are near at most of their uses (bands, finite elements) the
   straddling costs less than the copy.  */
bool shunt_worth_aligning(const struct shunt_host_spmm *p, size_t size);

/* Is a row of B worth a prefetch at each of its uses?  It is if a quarter of S's entries stand
   further from the diagonal than a core's caches reach, and if a long row is used so seldom that
   its first use is what counts.  By one entry a row, as that takes no search.  An S held by column
   says nothing yet: then, too.  */
bool shunt_worth_prefetching(const struct shunt_host_spmm *p, size_t size);

/* Do rows of S come in groups with the same columns, as the unknowns of a finite element mesh do?
   A quarter of the pairs that are looked at must be alike.  */
bool shunt_in_bundles(const struct shunt_sparse *s);

#endif
