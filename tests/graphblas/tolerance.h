/* tolerance.h: how far two right results of one product may lie apart.

   A sum of n rounded terms, taken in any order, lies within about n eps sum |terms| of the
   exact one; two such sums within twice that.  A minimum or maximum is exact, but where every
   term is NaN GraphBLAS gives NaN or the identity, whichever kernel runs: either is right.  ANY
   of several inner indices may be each of them.
   The terms are those of the case's operands,
   made afresh, as the product may have overwritten the ones it was given.  */
#ifndef TEST_TOLERANCE_H
#define TEST_TOLERANCE_H

#include "case.h"

struct tolerance {
  const struct product_case *c;
  int64_t inner, cols;
  int64_t rows;
  int64_t *offsets, *columns; /* the left operand by rows */
  double *values;
  double *right; /* the right operand, inner x cols, */
  bool *there;   /* and where it has entries */
  struct seen old;
};

bool tolerance_start(struct tolerance *t, const struct product_case *c);
void tolerance_finish(struct tolerance *t);
/* A near_function; context is a struct tolerance. */
bool tolerance_near(void *context, const struct seen *a, const struct seen *b, GrB_Index at);

#endif
