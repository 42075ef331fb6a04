/* side.h: one of the two sides of a case: a set of its operands, on which one of the two libraries
   does the product.  */
#ifndef TEST_SIDE_H
#define TEST_SIDE_H

#include "case.h"
#include "original.h"
#include "semiring.h"

struct side {
  union object object[SLOTS];
  GrB_Info info;
  char error[1024];
  struct seen before; /* C's settings before the product */
};

/* False, with a line on why, when an operand cannot be made; side_free frees what there is. */
bool side_make(const struct product_case *c, struct side *s);
void side_free(const struct product_case *c, struct side *s);
/* The descriptor of both sides; NULL for none. */
GrB_Descriptor side_descriptor(const struct product_case *c);
/* The call, with what is wrong with it; its return code goes to s->info. */
void side_multiply(const struct product_case *c, const struct products *p, const struct made *m,
                   GrB_Descriptor desc, struct side *s);
/* Leaves an error string on C. */
void side_cause_error(const struct product_case *c, struct side *s);
/* C's error string goes to s->error. */
void side_read_error(const struct product_case *c, struct side *s);
/* How the operands are held, and C's settings, before the product; finishes no work. */
void side_read_before(const struct product_case *c, struct side *s, int status[SLOTS]);

#endif
