/* device_memory.h: device memory of Shunt's own, in stream order.

   Where backend/cusparse/allocations.c exports the runtime's functions, to see what the program
   allocates and frees, Shunt's own memory comes from the driver's functions instead: else it would
   be taken for the program's.

   Thread-safe; nothing waits for the device but what says so.  */
#ifndef SHUNT_DEVICE_MEMORY_H
#define SHUNT_DEVICE_MEMORY_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "kernels/common/types.h"

/* `bytes` of `pool`, there for work that comes later in `stream`. */
shunt_status shunt_device_allocate(void **memory, size_t bytes, cudaMemPool_t pool,
                                   cudaStream_t stream);
/* Gives it back when `stream` has come to this. */
shunt_status shunt_device_free(void *memory, cudaStream_t stream);

/* The same at once, for all streams; these may wait for the device. */
shunt_status shunt_device_allocate_now(void **memory, size_t bytes);
void shunt_device_free_now(void *memory);

/* What tells this device, or part of one (MIG), from all others. */
bool shunt_device_uuid(int ordinal, unsigned char uuid[16]);

/* "NVIDIA H200", cut where it does not fit. */
bool shunt_device_name(int ordinal, char *name, int size);

/* The allocation around p; false: p is not in device memory. */
bool shunt_device_range(const void *p, const void **base, size_t *bytes);

#endif
