/* refused_memory.h: allocations that are counted, and one that is refused.  For a program that is
   linked with --wrap for malloc, calloc, aligned_alloc and free; to be included once.  */
#ifndef REFUSED_MEMORY_H
#define REFUSED_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void __real_free(void *p);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void __wrap_free(void *p);

static atomic_long asked, held; /* allocations so far, and those that were not freed */
static long refused;            /* the number of the one to be refused, from 1; 0: none */

static bool refuse(void)
{
  return atomic_fetch_add(&asked, 1) + 1 == refused;
}

static void *counted(void *p)
{
  if (p) atomic_fetch_add(&held, 1);
  return p;
}

void *__wrap_malloc(size_t bytes)
{
  return refuse() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
  return refuse() ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
  return refuse() ? NULL : counted(__real_aligned_alloc(align, bytes));
}

void __wrap_free(void *p)
{
  if (p) atomic_fetch_sub(&held, 1);
  __real_free(p);
}

#endif
