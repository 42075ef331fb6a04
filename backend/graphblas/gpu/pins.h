/* pins.h: arrays of the program's matrices that the bus may read and write where they are.

   A B or C that is met again and again in the same array is registered with CUDA: then its copies
   need no slot, and no thread.  That costs as much as one to two products with a B of its size, so
   an array is pinned when it is met for the fourth time, and, each time that it had to be let go of
   before that had paid, only after twice as many.

     met       1      2      3      4         5                 the matrix is freed, or changes
     copied    slots  slots  slots  pin, bus  bus    ..  unpin  in a way that may free the array

   An array that is freed while it is pinned would be read and written where nobody sees it any
   more, so it is let go of before any function that may free, move or hand out the array sees the
   matrix (epoch/resolve.c), before C gets another array (commit.c), and before a fork, for a
   child's copies.  What may be pinned: the arrays of a matrix (identity.h: own_array) whose
   functions are all seen; at most a quarter of the machine's memory.

   Any thread, at any time.  */
#ifndef SHUNT_GRAPHBLAS_GPU_PINS_H
#define SHUNT_GRAPHBLAS_GPU_PINS_H

#include "backend/graphblas/gpu/device.h"

/* Below this a product takes the threads less time than the question. */
enum { GRB_GPU_LEAST_PIN = 1 << 20 };

/* The array was met once more.  True: it is pinned, and remains so until it is given back.  No
   device is entered.  */
bool grb_gpu_pins_take(const struct grb_gpu_device *d, const void *handle, void *values,
                       int64_t bytes);
void grb_gpu_pins_give_back(const void *handle);
/* Lets go, in the product that took it, of what turned out to be another array's pages: and of any
   array of this matrix for good.  */
void grb_gpu_pins_distrust(const void *handle);

/* Waits until the matrix' array is in no product.  NULL: those of all matrices. */
void grb_gpu_pins_let_go(const void *handle);
/* How often arrays were pinned so far. */
uint64_t grb_gpu_pins_made(void);
/* In the child of a fork: none is known, and none is pinned. */
void grb_gpu_pins_forget(void);

#endif
