/* masked_prefetch.h: asks for lines of cache that are read soon.

   To GCC a function that does nothing but ask has no effect: calls of it are left out, unless it
   was inlined before that is found.  So must be what calls these.  */
#ifndef SHUNT_MASKED_PREFETCH_H
#define SHUNT_MASKED_PREFETCH_H

#include <stddef.h>

#define SHUNT_ASKS static inline __attribute__((always_inline))

enum { SHUNT_LINE = 64 /* bytes */, SHUNT_LINES_AHEAD = 4 /* the rest the machine foresees */ };

/* The first lines of `bytes` bytes, and the last; of none what stands there. */
SHUNT_ASKS void shunt_prefetch_lines(const void *from, size_t bytes)
{
  const char *p = from;
  for (size_t at = 0; at < bytes && at < (size_t)SHUNT_LINE * SHUNT_LINES_AHEAD; at += SHUNT_LINE)
    __builtin_prefetch(p + at);
  __builtin_prefetch(p + bytes);
}

#endif
