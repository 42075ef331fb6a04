/* bus.h: what pinned memory moves to and from the first GPU, measured by the driver's
   own functions, which need no header and no link.  */
#ifndef SHUNT_BENCH_GRAPHBLAS_GPU_BUS_H
#define SHUNT_BENCH_GRAPHBLAS_GPU_BUS_H

#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "matrices.h"

static double rate_up, rate_down, rate_both; /* bytes per second; 0: not measured */

static void *driver;

static int call_driver(const char *name, int (**f)(void))
{
  *(void **)f = dlsym(driver, name);
  return *f != NULL;
}

#define DRIVER(name, arguments)                                                                    \
  int(*name) arguments = NULL;                                                                     \
  if (!call_driver(#name, (int (**)(void)) & name)) return

static void measure_bus(void)
{
  enum { BYTES = 64 << 20, ROUNDS = 5 };
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return;
  DRIVER(cuInit, (unsigned));
  DRIVER(cuDeviceGet, (int *, int));
  DRIVER(cuDevicePrimaryCtxRetain, (void **, int));
  DRIVER(cuCtxPushCurrent_v2, (void *));
  DRIVER(cuCtxPopCurrent_v2, (void **));
  DRIVER(cuMemHostAlloc, (void **, size_t, unsigned));
  DRIVER(cuMemFreeHost, (void *));
  DRIVER(cuMemAlloc_v2, (unsigned long long *, size_t));
  DRIVER(cuMemFree_v2, (unsigned long long));
  DRIVER(cuStreamCreate, (void **, unsigned));
  DRIVER(cuCtxSynchronize, (void));
  DRIVER(cuMemcpyHtoDAsync_v2, (unsigned long long, const void *, size_t, void *));
  DRIVER(cuMemcpyDtoHAsync_v2, (void *, unsigned long long, size_t, void *));
  int device;
  void *context, *host[2], *stream[2];
  unsigned long long memory[2];
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device)) return;
  NEED(!cuCtxPushCurrent_v2(context));
  for (int i = 0; i < 2; i++) {
    NEED(!cuMemHostAlloc(&host[i], BYTES, 0) && !cuMemAlloc_v2(&memory[i], BYTES));
    NEED(!cuStreamCreate(&stream[i], 1));
    memset(host[i], 1, BYTES);
  }
  for (int which = 0; which < 3; which++) {
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
      double begin = now();
      for (int i = 0; i < 4; i++) {
        if (which != 1) NEED(!cuMemcpyHtoDAsync_v2(memory[0], host[0], BYTES, stream[0]));
        if (which != 0) NEED(!cuMemcpyDtoHAsync_v2(host[1], memory[1], BYTES, stream[1]));
      }
      NEED(!cuCtxSynchronize());
      best = fmin(best, now() - begin);
    }
    *(which == 0   ? &rate_up
      : which == 1 ? &rate_down
                   : &rate_both) = (which == 2 ? 8.0 : 4.0) * BYTES / best;
  }
  for (int i = 0; i < 2; i++) {
    cuMemFreeHost(host[i]);
    cuMemFree_v2(memory[i]);
  }
  cuCtxPopCurrent_v2(&context);
}

#endif
