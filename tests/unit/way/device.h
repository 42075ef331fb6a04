/* device.h: a GPU of the test's own, behind the CUDA runtime's functions that Shunt calls.

   Its memory is the host's, so AddressSanitizer watches what is read after it was freed.  Pools
   keep what was freed, as a GPU's do, until the host has waited for the stream that freed it, and
   then until they are trimmed.  Its streams work in order: at once, or when the test says so
   (device.late); a graph keeps what was captured and can be launched.  Kernels are their twins
   (launchers/).  What may not be called while a stream is captured fails, and is counted.  */
#ifndef WAY_DEVICE_H
#define WAY_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device {
  /* what it is; to be set before Shunt first asks */
  int count;          /* devices: 1, or 0 for cudaErrorNoDevice */
  bool old_driver;    /* older than the runtime */
  int capability;     /* 90 */
  size_t total;       /* bytes of memory */
  bool full;          /* every allocation fails */
  bool late;          /* streams wait for device_run, or for who waits for them */
  bool no_sums;       /* products leave C as it is, as only their order counts */
  bool profiles_late; /* a profile is written when the test says so: device_profiles */

  /* what became of it */
  size_t used, peak;     /* bytes */
  int pieces;            /* allocations that live, the host's pinned ones included */
  int events, streams;   /* that live */
  int disturbed;         /* calls that a capture forbids */
  int waited;            /* synchronisations */
  long launches;         /* of kernels, enqueued or captured */
  long repairs, changes; /* repairs that computed C, and those that found A changed */
  int64_t longest;       /* what the last csr was told of the longest row; negative: nothing */
  char trace[4096];      /* a letter for each kernel that was enqueued: launchers/ */
};
extern struct device device;

/* A kernel, or a copy, in a stream: run(arguments), later, on a copy of the arguments. */
typedef void (*device_work)(const void *arguments);
void device_enqueue(cudaStream_t stream, device_work run, const void *arguments, size_t bytes);

/* Until no stream can go on. */
void device_run(void);
/* Profiles that were held back are written. */
void device_profiles(void);
void device_hold_profile(void (*write)(void *), void *what);
/* The letter goes to the trace. */
void device_traced(char letter);
/* The program has so many bytes of the device more, which nobody reads or writes; false: they are
   not there.  And gives them back.  */
bool device_take(size_t bytes);
void device_return(size_t bytes);
/* Bytes that somebody has, without what is free in pools. */
size_t device_live(void);
/* What streams, a context and an allocation are found by: as after cudaDeviceReset. */
void device_new_context(void);

#endif
