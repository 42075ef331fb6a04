/* measure.h: SHUNT_MEASURE=1: GraphBLAS' own time for a product that was taken.

   The original runs once more on the same inputs, into a matrix that nobody else knows:

     C = T, whatever C held      a new matrix of C's type, orientation and settings
     C += T into a full C        a copy of C

   Other products are not measured; nor are those where the program could tell: user-defined
   operators and allocators, GraphBLAS' own diagnostics switched on, C among the inputs, and where
   memory is short.  How often: backend/log/log_measure.h.  */
#ifndef SHUNT_GRAPHBLAS_MEASURE_H
#define SHUNT_GRAPHBLAS_MEASURE_H

#include "backend/graphblas/product.h"

/* After p was taken, in `us` microseconds; d: its decision, or NULL.  C may have any content by
   now.  */
void grb_measure(const struct grb_product *p, struct shunt_decision *d, double us);

#endif
