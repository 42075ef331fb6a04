#include "backend/graphblas/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/plan/fault.h"

enum { GXB_MALLOC_FUNCTION = 7037, GXB_FREE_FUNCTION = 7040, MOST_ARENAS = 16 };

struct allocator {
  void *(*allocate)(size_t);
  void (*release)(void *);
};

static struct allocator allocator(const struct grb_library *l)
{
  struct allocator a = {l->allocate, l->release};
  if (l->GxB_Global_Option_get_FUNCTION) {
    union {
      void *p;
      void *(*allocate)(size_t);
      void (*release)(void *);
    } f;
    if (l->GxB_Global_Option_get_FUNCTION(GXB_MALLOC_FUNCTION, &f.p) == GRB_SUCCESS && f.p)
      a.allocate = f.allocate;
    if (l->GxB_Global_Option_get_FUNCTION(GXB_FREE_FUNCTION, &f.p) == GRB_SUCCESS && f.p)
      a.release = f.release;
  }
  if (!a.allocate || !a.release) a = (struct allocator){malloc, free};
  return a;
}

/* How many a version has is not to be asked: the first number that it refuses is one too many. */
bool grb_has_arenas(const struct grb_library *l)
{
  for (int k = 1; l->GxB_arena_initialized && k < MOST_ARENAS; k++) {
    int flag = 0;
    const int info = l->GxB_arena_initialized(&flag, k);
    if (info == GRB_INVALID_VALUE) return false;
    if (info != GRB_SUCCESS || flag) return true;
  }
  return false;
}

/* A large result is written once, page by page: with large pages that costs a quarter. */
static void ask_for_large_pages(void *p, size_t bytes)
{
  const uintptr_t large = (uintptr_t)2 << 20;
  uintptr_t first = ((uintptr_t)p + large - 1) & ~(large - 1);
  uintptr_t last = ((uintptr_t)p + bytes) & ~(large - 1);
  if (p && last > first) madvise((void *)first, last - first, MADV_HUGEPAGE);
}

void *grb_allocate(const struct grb_library *l, size_t bytes)
{
  if (grb_has_arenas(l) || bytes > PTRDIFF_MAX) return NULL;
  void *p = SHUNT_TRY_OR(NULL, allocator(l).allocate(bytes ? bytes : 1));
  ask_for_large_pages(p, bytes);
  return p;
}

void grb_release(const struct grb_library *l, void *p)
{
  if (p) allocator(l).release(p);
}

void grb_set_allocator(struct grb_library *l, void *(*allocate)(size_t), void (*release)(void *))
{
  l->allocate = allocate;
  l->release = release;
}
