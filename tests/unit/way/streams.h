/* streams.h: what the sources of the test's device share. */
#ifndef WAY_STREAMS_H
#define WAY_STREAMS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

/* One host thread at a time, and again by who has it. */
typedef int hold_t;
hold_t device_lock(void);
void device_unlock(hold_t hold);

/* Is a capture under way that this call would break?  It is broken then, and the call fails. */
bool device_disturbs(void);
/* The host has waited for the stream: what it freed may leave its pool. */
void device_waited_for(cudaStream_t s);

#endif
