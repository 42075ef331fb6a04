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

/* The C library gives free memory back to the system, and each page that is taken anew costs a
   fault, unless blocks as large were freed before (mallopt(3): M_MMAP_THRESHOLD is dynamic, up to
   32 MiB).  GraphBLAS frees workspace of several times a result's size with its products.  Ours
   have none, and without such a block a program would take its memory anew with each of its next
   steps.  So one is freed; it is never touched.  */
static void keep_freed_memory(struct allocator a, size_t result)
{
  enum { MORE = 16, LEAST = 1 << 20, MOST = (32 << 20) - (64 << 10) };
  static size_t freed; /* a thread may lose another's */
  const size_t bytes = result < MOST / MORE ? MORE * result : MOST;
  const size_t before = __atomic_load_n(&freed, __ATOMIC_RELAXED);
  if (bytes < LEAST || bytes < before + before / 2 || a.allocate != malloc) return;
  __atomic_store_n(&freed, bytes, __ATOMIC_RELAXED);
  a.release(a.allocate(bytes));
}

void *grb_allocate(const struct grb_library *l, size_t bytes)
{
  if (grb_has_arenas(l) || bytes > PTRDIFF_MAX) return NULL;
  const struct allocator a = allocator(l);
  keep_freed_memory(a, bytes);
  void *p = SHUNT_TRY_OR(NULL, a.allocate(bytes ? bytes : 1));
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
