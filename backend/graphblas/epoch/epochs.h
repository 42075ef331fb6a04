/* epochs.h: has a matrix been given to a function that may change it?

   GraphBLAS keeps no version number.  So every function that takes a matrix or vector as
   its output is interposed (mutators.h, interposed.c): a trampoline raises the epoch of
   the handle and jumps to the original.

     handle --hash--> counters [8192]       the epoch of a handle is its counter's value;
                                            handles that share one only seem to change
                                            more often than they do

   Equal epochs say: no interposed function was called with this handle in between.  Not
   seen: calls through pointers that dlsym gave for the library's handle, and
   programs linked statically with GraphBLAS.  Thread-safe, lock-free.  */
#ifndef SHUNT_GRAPHBLAS_EPOCH_EPOCHS_H
#define SHUNT_GRAPHBLAS_EPOCH_EPOCHS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The epoch of a matrix or vector; 0: unknown, equal to nothing, not even to itself.  That is so
   for NULL, where no trampolines are built (other processors than x86_64, static
   archive), and once two copies of GraphBLAS have been called in this process.  */
uint64_t grb_epoch(const void *handle);

/* The handle is about to change: for GrB_mxm, mxv and vxm, which have no trampoline. */
void grb_bump(const void *handle);

#ifdef __cplusplus
}
#endif
#endif
