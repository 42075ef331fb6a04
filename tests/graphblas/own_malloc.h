/* own_malloc.h: memory functions for GxB_init, which count what is held and fill what they
   hand out, so that reading it before writing shows.  Thread-safe.  */
#ifndef TEST_OWN_MALLOC_H
#define TEST_OWN_MALLOC_H

#include <stddef.h>

void *own_malloc(size_t size);
void *own_calloc(size_t n, size_t size);
void *own_realloc(void *p, size_t size);
void own_free(void *p);

/* What new memory is filled with from now on. */
void own_malloc_fill(int byte);
/* Blocks handed out and not freed. */
long own_malloc_held(void);
/* free was given what none of these functions handed out. */
long own_malloc_foreign(void);

#endif
