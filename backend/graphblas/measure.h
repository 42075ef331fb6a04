/* measure.h: SHUNT_MEASURE=1: GraphBLAS' own time for a product that was taken.

   The original runs once more on the same inputs, into a matrix that nobody else knows:

     C = T, whatever C held      a new matrix of C's type, orientation and settings
     C += T into a full C        a copy of C

   Where C is A, as in searches, A is copied before the product.

   Other products are not measured; nor are those where the program could tell: user-defined
   operators and allocators, GraphBLAS' own diagnostics switched on, C the second operand or the
   mask, and where memory is short.  How often: backend/log/log_measure.h.  */
#ifndef SHUNT_GRAPHBLAS_MEASURE_H
#define SHUNT_GRAPHBLAS_MEASURE_H

#include "backend/graphblas/product.h"

/* Once p is chosen: copies A to p->before, if C is A and the product is to be measured. */
void grb_measure_keep(struct grb_product *p);
/* After p was taken, in `us` microseconds; d: its decision, or NULL.  C may have any content by
   now.  */
void grb_measure(const struct grb_product *p, struct shunt_decision *d, double us);
/* Lets go of the copy. */
void grb_measure_drop(struct grb_product *p);

#endif
