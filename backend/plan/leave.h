/* leave.h: multiprocessors that are left to others, such as a collective beside the products.

   A persistent kernel has a block for each multiprocessor, which keeps it to the end.  It is
   launched, and its time is estimated, as if the device had fewer multiprocessors, by the number to
   be left.  Other kernels need no such care: whenever one of their blocks ends, others can run.  */
#ifndef SHUNT_LEAVE_H
#define SHUNT_LEAVE_H

#include <stdint.h>

/* Of `all`, with so many left; half of them stay at least. */
static inline int shunt_leave_multiprocessors(int all, int64_t left)
{
  const int most = all / 2;
  return all - (left <= 0 ? 0 : left > most ? most : (int)left);
}

#endif
