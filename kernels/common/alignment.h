/* alignment.h: arrays behind one another in a piece of memory, each at a multiple of 256 bytes. */
#ifndef SHUNT_KERNELS_ALIGNMENT_H
#define SHUNT_KERNELS_ALIGNMENT_H

#include <stddef.h>

/* The least multiple of `to`, a power of two, that is no less than bytes. */
static inline size_t shunt_align_up(size_t bytes, size_t to)
{
  return (bytes + to - 1) & ~(to - 1);
}

/* The next multiple of 256 from *at, which then moves behind `bytes`. */
static inline size_t shunt_place(size_t *at, size_t bytes)
{
  const size_t from = shunt_align_up(*at, 256);

  *at = from + bytes;
  return from;
}

/* The same as an address in memory; NULL, without memory. */
static inline void *shunt_place_in(char *memory, size_t *at, size_t bytes)
{
  const size_t from = shunt_place(at, bytes);

  return memory ? memory + from : NULL;
}

#endif
