#define _DEFAULT_SOURCE
#include "backend/graphblas/gpu/pages.h"

#include <sys/mman.h>

/* Younger than some C libraries. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* FEW: what so little memory costs is less than the question. */
enum { LARGE_PAGE = 2 << 20, PAGE = 4096, FEW = 2 };

void grb_gpu_pages_make(struct grb_gpu_pages *pages, const struct shunt_full *c, size_t size)
{
  const int64_t last = (c->rows - 1) * c->row_stride + (c->cols - 1) * c->col_stride + 1;
  const uintptr_t values = (uintptr_t)c->values;
  const uintptr_t begin = (values + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
  const uintptr_t end = (values + (uintptr_t)last * size) & ~(uintptr_t)(LARGE_PAGE - 1);
  pages->begin = (char *)begin;
  pages->count = end > begin ? (int64_t)((end - begin) / LARGE_PAGE) : 0;
  if (pages->count < FEW) pages->count = 0;
  atomic_init(&pages->next, 0);
  if (pages->count > 0) madvise(pages->begin, (size_t)pages->count * LARGE_PAGE, MADV_HUGEPAGE);
}

/* To ask for pages that are there takes longer than to find out by the first. */
static bool is_there(char *page)
{
  unsigned char resident = 0;
  return mincore(page, PAGE, &resident) != 0 || (resident & 1);
}

void grb_gpu_pages_populate(struct grb_gpu_pages *pages)
{
  const int64_t i = atomic_fetch_add(&pages->next, 1);
  if (i >= pages->count) return;
  char *page = pages->begin + i * LARGE_PAGE;
  if (!is_there(page) && madvise(page, LARGE_PAGE, MADV_POPULATE_WRITE) != 0)
    atomic_store(&pages->next, pages->count);
}
