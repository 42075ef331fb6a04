#include "own_malloc.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* In front of every block: a mark and its size. */
struct head {
  uint64_t mark, size;
};
#define MARK 0x5368756e74206d65ull
#define BEHIND 1024 /* bytes behind it, filled as well: 10.0.1 reads past an iso value */

static atomic_long held, foreign;
static atomic_int fill;

void *own_malloc(size_t size)
{
  struct head *h = malloc(sizeof *h + size + BEHIND);
  if (!h) return NULL;
  *h = (struct head){MARK, size};
  memset(h + 1, atomic_load(&fill), size + BEHIND);
  atomic_fetch_add(&held, 1);
  return h + 1;
}

void *own_calloc(size_t n, size_t size)
{
  void *p = own_malloc(n * size);
  if (p) memset(p, 0, n * size);
  return p;
}

void *own_realloc(void *p, size_t size)
{
  if (!p) return own_malloc(size);
  void *q = own_malloc(size);
  if (!q) return NULL;
  uint64_t old = ((struct head *)p - 1)->size;
  memcpy(q, p, old < size ? old : size);
  own_free(p);
  return q;
}

void own_free(void *p)
{
  if (!p) return;
  struct head *h = (struct head *)p - 1;
  if (h->mark != MARK) {
    atomic_fetch_add(&foreign, 1);
    return;
  }
  h->mark = 0;
  atomic_fetch_sub(&held, 1);
  free(h);
}

void own_malloc_fill(int byte)
{
  atomic_store(&fill, byte);
}

long own_malloc_held(void)
{
  return atomic_load(&held);
}

long own_malloc_foreign(void)
{
  return atomic_load(&foreign);
}
