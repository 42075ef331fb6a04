/* measure.h: SHUNT_MEASURE=1: a call that was taken, timed both ways on its own stream.

     event | Shunt's | event     event | the original, into memory of Shunt's own | event

   Samples are counted by decision, which is known only after a call, when it is too late for its
   first event.  So where a decision is due, the next call of the same problem is timed.

   Before the first sample of a decision the original runs once, as it then loads its kernels.  The
   host never waits: later calls look whether the events have passed.  Not while the stream is
   captured, not with batches, not where cuSPARSE keeps a log of its calls, and only where the
   device has memory to spare.  How often: backend/log/log_measure.h.

   Thread-safe.  */
#ifndef SHUNT_CUSPARSE_MEASURE_H
#define SHUNT_CUSPARSE_MEASURE_H

#include <cuda_runtime_api.h>

#include "backend/plan/log.h"
#include "backend/plan/problem.h"

/* Runs the original on the call's own arguments, but into `memory` where C's values are written: 0
   for success.  */
struct shunt_original_into {
  int (*run)(void *context, void *memory);
  void *context;
};

struct shunt_sample;

/* Before a call: records the first event if it is to be timed; else NULL. */
struct shunt_sample *shunt_sample_begin(const struct shunt_problem *p, cudaStream_t stream);
/* It was not taken. */
void shunt_sample_drop(struct shunt_sample *s);
/* It was taken, is known by `decision`, and the original is expected to take so many microseconds.
   For calls without a sample, too: s NULL.  */
void shunt_sample_end(struct shunt_sample *s, const struct shunt_problem *p,
                      struct shunt_decision *decision, double original_us,
                      const struct shunt_original_into *original);

#endif
