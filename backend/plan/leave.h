/* leave.h: multiprocessors that are left to others, such as a collective beside the products.

   Persistent kernels have a block for each multiprocessor, which keeps it to the end; they are
   launched as if the device had so many fewer, and all is estimated so.  Other kernels give each
   multiprocessor back with each of their blocks.  */
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
