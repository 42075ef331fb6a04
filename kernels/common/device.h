/* device.h: what every launcher takes, and the rules that all of them keep.

   A launcher is a function whose name ends in _cuda.  It checks that it was built for what it is
   given (else SHUNT_E_UNSUPPORTED), computes its grid and enqueues kernels.  It never reads the
   environment, logs, allocates, waits for the device or uses any stream but the one given.  So
   every launcher is legal inside stream capture and may be called from any thread.  All results are
   deterministic: the same inputs give the same bits.

   Workspace: device memory of at least the size that the matching *_workspace function returned
   for the same sizes and types, aligned to 256 bytes.  What it holds is undefined before and after.
   It belongs to the call alone until the stream has passed the call.  *_workspace functions depend
   on sizes, types, strides and `multiprocessors` only, never on pointers or on data.

   *_host functions are the twins of kernels: the same mathematics over host pointers, written to
   be obviously right.  Where OpenMP is on, those named *_parallel_host are the host engine.  */
#ifndef SHUNT_KERNELS_DEVICE_H
#define SHUNT_KERNELS_DEVICE_H

#include <stdbool.h>

#include "kernels/common/types.h"

/* The CUDA stream, opaque here so that builds without CUDA need no header. */
typedef struct CUstream_st *shunt_stream;

/* What a launcher may know of the device that it launches on. */
struct shunt_device {
  int multiprocessors;    /* 132 on an H200 */
  int compute_capability; /* 90 for 9.0 */
  int shared_per_block;   /* bytes a block may opt in to */
  int64_t l2_bytes;
};

#endif
