/* pinned.h: is any matrix' array pinned for the bus (gpu/pins.h)?  The trampolines look at it:
   while one is, a matrix is let go of before a function that may free its array gets it.  */
#ifndef SHUNT_GRAPHBLAS_EPOCH_PINNED_H
#define SHUNT_GRAPHBLAS_EPOCH_PINNED_H

#include <stdatomic.h>

extern __attribute__((visibility("hidden"))) atomic_bool grb_pinned;

#endif
