/* semiring.h: the semirings and accumulators of a case, found in the library or made. */
#ifndef TEST_SEMIRING_H
#define TEST_SEMIRING_H

#include "case.h"

struct made {
  GrB_Semiring semiring;     /* what to multiply with */
  GrB_BinaryOp accum;        /* NULL without */
  GrB_Semiring own_semiring; /* freed by made_free, as are those below */
  GrB_Monoid own_monoid;
};

/* The program's own operators; before the first made_semiring, and after the last. */
void own_ops_start(void);
void own_ops_finish(void);

bool made_semiring(const struct semiring_choice *s, struct made *out);
bool made_accum(const struct product_case *c, struct made *out);
void made_free(struct made *m);

#endif
