/* fake_cuda.h: what fake_cuda.c was asked, and what it is to answer. */
#ifndef SHUNT_FAKE_CUDA_H
#define SHUNT_FAKE_CUDA_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

/* What programs call that were compiled for a default stream of each thread; no header declares
   it. */
__typeof__(cudaMallocAsync) cudaMallocAsync_ptsz;
__typeof__(cudaMallocFromPoolAsync) cudaMallocFromPoolAsync_ptsz;
__typeof__(cudaFreeAsync) cudaFreeAsync_ptsz;
__typeof__(cuMemAllocAsync) cuMemAllocAsync_ptsz;
__typeof__(cuMemAllocFromPoolAsync) cuMemAllocFromPoolAsync_ptsz;
__typeof__(cuMemFreeAsync) cuMemFreeAsync_ptsz;

#define FAKE_MEMORY 0x7000000ull

struct fake_calls {
  int allocations, frees;
  size_t bytes;             /* of the last allocation, */
  unsigned long long with;  /* and its stream or flags */
  unsigned long long freed; /* the last */
  int to_fail, failure;     /* so many allocations fail, with this */
  int last_error;           /* of the runtime */
  const void *returned_to;  /* by the last call */
};
extern struct fake_calls fake_runtime, fake_driver;

#endif
