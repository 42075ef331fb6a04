/* entry.h: what the program may see of us; all else is hidden (exports.map says it again).

   The static archive cannot define GraphBLAS' own names beside GraphBLAS itself: there
   the functions are the __wrap_ ones that the linker's --wrap option asks for.  */
#ifndef SHUNT_GRAPHBLAS_ENTRY_H
#define SHUNT_GRAPHBLAS_ENTRY_H

#include "backend/graphblas/library.h"

#define GRB_EXPORT __attribute__((visibility("default")))

#ifdef GRB_STATIC
#define DECLARE(f, arguments) GRB_EXPORT int f arguments __asm__("__wrap_" #f);
#else
#define DECLARE(f, arguments) GRB_EXPORT int f arguments;
#endif
GRB_TAKEN(DECLARE)
#undef DECLARE

#endif
