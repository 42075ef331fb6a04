/* measure.h: SHUNT_MEASURE=1: GraphBLAS' own time for a product that is taken.

   Before Shunt's product the original runs on the same operands, which are then where the program
   left them, in caches or not, into a matrix that nobody else knows:

     C = T, whatever C held      a new matrix of C's type, orientation and settings
     C += T into a full C        a copy of C

   The first time that it runs for a decision it runs twice, and the second time counts: new memory
   and code are paid for once in a program, not in every call.

   Samples are counted by decision, which is known only after a call.  So where one is due, the next
   call of the same problem is timed.

   Other products are not measured; nor are those where the program could tell: user-defined
   operators and allocators, GraphBLAS' own diagnostics switched on, C the second operand or the
   mask, and where memory is short.  How often: backend/log/log_measure.h; what follows from it:
   log_gain.h.  */
#ifndef SHUNT_GRAPHBLAS_MEASURE_H
#define SHUNT_GRAPHBLAS_MEASURE_H

#include "backend/graphblas/product.h"

/* Once p is chosen: runs the original, if p is to be measured.  True: it ran, so the operands are
   to be read again, as GraphBLAS may have put them in order.  */
bool grb_measure_original(struct grb_product *p);
/* After p was taken, in `us` microseconds; d: its decision, or NULL. */
void grb_measure(const struct grb_product *p, struct shunt_decision *d, double us);

#endif
