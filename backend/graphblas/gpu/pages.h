/* pages.h: the pages of a C in memory that nobody has written yet.

   The first write to such a page waits until the kernel has cleared it, 2 MiB of a large one; and
   where pieces of C that two threads write meet in one page, both clear one.  So threads that have
   nothing to copy, while the bus is at work, ask for the pages before C comes down, each page by
   one thread.  That is MADV_POPULATE_WRITE (Linux 5.14), which changes no content.  Where the pages
   are there already nothing is done, and nothing is gained where the kernel does not know the
   request.

   Any thread, at any time; the array stays where it is as long as its pages are in use.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PAGES_H
#define SHUNT_GRAPHBLAS_GPU_PAGES_H

#include <stdatomic.h>

#include "kernels/semiring/semiring_kernels.h"

struct grb_gpu_pages {
  char *begin; /* large pages that lie in C's array, whole */
  int64_t count;
  atomic_int_fast64_t next; /* those before it have been asked for, or are being */
};

/* Of the array of `c`, whose elements have `size` bytes.  Advises the kernel to make them large. */
void grb_gpu_pages_make(struct grb_gpu_pages *pages, const struct shunt_full *c, size_t size);
static inline bool grb_gpu_pages_left(struct grb_gpu_pages *pages)
{
  return atomic_load(&pages->next) < pages->count;
}
/* Asks for the next one, if any is left, and waits 0.1 to 0.4 ms for it if it is not there yet. */
void grb_gpu_pages_populate(struct grb_gpu_pages *pages);

#endif
