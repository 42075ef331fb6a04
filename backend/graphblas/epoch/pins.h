/* pins.h: is any matrix' array pinned for the bus (backend/graphblas/gpu/pins.h)?  The stubs look at it:
   while one is, a matrix is let go of before a function that may free its array gets it.  */
#ifndef SHUNT_GRAPHBLAS_MUTATOR_PINS_H
#define SHUNT_GRAPHBLAS_MUTATOR_PINS_H

#include <stdatomic.h>

extern __attribute__((visibility("hidden"))) atomic_bool grb_pinned;

#endif
