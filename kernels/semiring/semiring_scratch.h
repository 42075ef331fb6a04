/* semiring_scratch.h: memory for the duration of one call. */
#ifndef SHUNT_SEMIRING_SCRATCH_H
#define SHUNT_SEMIRING_SCRATCH_H

#include <stddef.h>

struct shunt_scratch {
  char *memory; /* aligned to 64 bytes; NULL: could not be had */
  size_t bytes;
};

/* One block is kept from a call to the next, because the page faults of fresh memory can cost
   more than the product: at most SHUNT_SCRATCH_KEPT bytes in a process.  */
#define SHUNT_SCRATCH_KEPT ((size_t)64 << 20)

/* The caller gives it back; its content is undefined.  From any thread. */
struct shunt_scratch shunt_scratch_take(size_t bytes);
void shunt_scratch_give(struct shunt_scratch scratch);

/* So many bytes, in whole lines of cache: what comes behind them is aligned as they are. */
static inline size_t shunt_whole_lines(size_t bytes)
{
  return (bytes + 63) / 64 * 64;
}

#endif
