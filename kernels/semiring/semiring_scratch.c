/* semiring_scratch.c: memory for the duration of one call, with one block kept for the next.

   The block lies in a slot; a thread that takes it leaves the slot empty, so threads never share it
   and nobody waits.  Large blocks ask for huge pages: fewer faults, and fewer misses of the
   translation buffer when rows are gathered from them.  */
#include <stdint.h>
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include "kernels/semiring/semiring_scratch.h"

enum { LINE = 64, HUGE_PAGE = 2 << 20 };

/* A block begins with its size, in a line of its own. */
static char *slot;

static size_t size_of(const char *block)
{
  return *(const size_t *)(const void *)block;
}

static char *allocate(size_t bytes)
{
  const size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : LINE;
  if (bytes > PTRDIFF_MAX - align) return NULL;
  const size_t whole = (bytes + align - 1) / align * align;
  char *block = aligned_alloc(align, whole);
#ifdef MADV_HUGEPAGE
  if (block && align == HUGE_PAGE) madvise(block, whole, MADV_HUGEPAGE);
#endif
  if (block) *(size_t *)(void *)block = whole;
  return block;
}

struct shunt_scratch shunt_scratch_take(size_t bytes)
{
  char *block = __atomic_exchange_n(&slot, NULL, __ATOMIC_ACQUIRE);
  if (block && size_of(block) < bytes + LINE) {
    free(block);
    block = NULL;
  }
  if (!block) block = allocate(bytes + LINE);
  return (struct shunt_scratch){block ? block + LINE : NULL, bytes};
}

void shunt_scratch_give(struct shunt_scratch scratch)
{
  char *block = scratch.memory ? scratch.memory - LINE : NULL;
  if (block && size_of(block) <= SHUNT_SCRATCH_KEPT)
    block = __atomic_exchange_n(&slot, block, __ATOMIC_ACQ_REL);
  free(block);
}

__attribute__((destructor)) static void release(void)
{
  free(__atomic_exchange_n(&slot, NULL, __ATOMIC_ACQUIRE));
}
