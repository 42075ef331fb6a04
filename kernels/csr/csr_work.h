/* csr_work.h: the sizes by which the split kernel's shapes are chosen, and estimated. */
#ifndef SHUNT_CSR_WORK_H
#define SHUNT_CSR_WORK_H

#include <stdbool.h>
#include <stdint.h>

/* Entries that a row may come to have and still be one team's, as an int holds 16 times the lengths
   of a warp's rows. */
#define SHUNT_CSR_MOST_LIMIT ((int64_t)1 << 24)

struct shunt_csr_work {
  int64_t rows, nonzeros; /* of A */
  int64_t longest;        /* row; negative where nobody looked */
  int64_t n, size;        /* columns of B; bytes of its elements: 2, 4 or 8 */
  int multiprocessors;
  bool words; /* lanes may have two words of a row of B each: B as A, real, not of 1 byte */
};

#endif
