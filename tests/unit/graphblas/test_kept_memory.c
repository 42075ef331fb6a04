/* test_kept_memory.c: once a result was large, memory that is freed stays with the process, as
   after GraphBLAS' own products: the next blocks are no new mappings of the system.  */
#include <malloc.h>
#include <stdlib.h>

#include "backend/graphblas/memory.h"
#include "tests/unit/check.h"

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
enum { MIB = 1 << 20 };

/* Does the C library map a block of so many bytes by itself? */
static bool is_mapped(size_t bytes)
{
  const size_t before = mallinfo2().hblkhd;
  void *volatile p = malloc(bytes);
  const bool mapped = mallinfo2().hblkhd > before;
  free(p);
  return mapped;
}

static void *of_program(size_t bytes)
{
  return malloc(bytes);
}

static void take(size_t bytes)
{
  const struct grb_library l = {.allocate = malloc, .release = free};
  void *p = grb_allocate(&l, bytes);
  check(p != NULL, "%zu bytes", bytes);
  grb_release(&l, p);
}

int main(void)
{
  const struct grb_library others = {.allocate = of_program, .release = free};
  /* Whatever is freed is its own measure: of small ones first. */
  if (!is_mapped(256 << 10)) {
    check_skip("blocks are not mapped");
    return check_finish();
  }
  grb_release(&others, grb_allocate(&others, 1 << 16));
  check(is_mapped(MIB), "a program's own allocator is let alone");
  take(1000);
  check(is_mapped(3 * MIB / 2), "a small result changes nothing");
  take(MIB);
  check(!is_mapped(15 * MIB), "sixteen times a result's size is kept");
  check(is_mapped(20 * MIB), "and no more");
  take(100 * MIB);
  check(!is_mapped(31 * MIB), "at most what the C library knows of");
  return check_finish();
}
#else
int main(void)
{
  check_skip("a C library that does not tell what it maps");
  return check_finish();
}
#endif
