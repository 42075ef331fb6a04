/* csr_unstaged.h: which products read A without staging it in shared memory: where C is narrow, and
   rows do not differ so much that the teams of a warp would wait for its longest one, unless long
   blocks have it (csr_spmm_split_unstaged.cuh).  Of the kernel's choice and of estimates.  */
#ifndef SHUNT_CSR_UNSTAGED_H
#define SHUNT_CSR_UNSTAGED_H

#include <stdbool.h>
#include <stdint.h>

/* Do teams not wait long for the longest row?  mean: nonzeros of a row, rounded down. */
static inline bool shunt_csr_longest_is_near(int64_t longest, int64_t mean)
{
  enum { MOST_LONGER = 32 };
  return longest <= MOST_LONGER * mean;
}

/* size: bytes of an element, 2 to 8, B being read 16 at a time.  longest: the longest row, negative
   where nobody knows.  */
static inline bool shunt_csr_is_unstaged(int64_t rows, int64_t nonzeros, int64_t longest, int64_t n,
                                         int64_t size)
{
  enum { LEAST_ROWS = 1024, LOADS = 2, LONG_MEAN = 32 };
  if (size < 2 || size > 8 || n * size > LOADS * 16 || n * size % 16 != 0) return false;
  if (longest < 0 || rows < LEAST_ROWS) return false;
  const int64_t mean = nonzeros / rows;
  return shunt_csr_longest_is_near(longest, mean) || mean >= LONG_MEAN;
}

#endif
