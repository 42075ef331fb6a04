/* fake_cuda.h: what fake_cuda.c was asked, and what it is to answer. */
#ifndef SHUNT_FAKE_CUDA_H
#define SHUNT_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#define FAKE_MEMORY 0x7000000ull

struct fake_calls {
  int allocations, frees;
  size_t bytes;             /* of the last allocation, */
  unsigned long long with;  /* and its stream or flags */
  unsigned long long freed; /* the last */
  int to_fail, failure;     /* so many allocations fail, with this */
  int last_error;           /* of the runtime */
};
extern struct fake_calls fake_runtime, fake_driver;

#endif
