/* compare.h: whether the two sides of a case ended alike: return code, error string, and all that a
   program can see of the result and of the inputs.  */
#ifndef TEST_COMPARE_H
#define TEST_COMPARE_H

#include "side.h"

/* Counts of what may differ, and did. */
struct differences {
  long iso, status, settings_kept;
};

/* two[0] is the subject's side, two[1] the original's.  False, with the first difference in `why`,
   when they differ; what may differ is added to *d.  */
bool sides_equal(const struct product_case *c, struct side *two, struct differences *d,
                 char why[1400]);

#endif
