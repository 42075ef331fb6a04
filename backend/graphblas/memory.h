/* memory.h: memory that GraphBLAS may free, and that may be given to a matrix.

   GxB_init lets a program choose the allocator (numpy's in python-graphblas, Redis' in its
   modules).  From 8 on the library tells; for 7.x the exported GxB_init takes note.
   From 10.4 on matrices may live in arenas with allocators of their own: once a program makes
   one, nothing is allocated here any more, and the originals run.  */
#ifndef SHUNT_GRAPHBLAS_MEMORY_H
#define SHUNT_GRAPHBLAS_MEMORY_H

#include "backend/graphblas/library.h"

/* What a program started GraphBLAS with; NULL: the C library's functions. */
void grb_set_allocator(struct grb_library *l, void *(*allocate)(size_t), void (*release)(void *));
/* May arrays be freed with an arena, without their matrices' being named? */
bool grb_has_arenas(const struct grb_library *l);
/* NULL: none left, or not to be had in this program.  Not zeroed. */
void *grb_allocate(const struct grb_library *l, size_t bytes);
/* For what was not handed over to a matrix; NULL is allowed. */
void grb_release(const struct grb_library *l, void *p);

#endif
