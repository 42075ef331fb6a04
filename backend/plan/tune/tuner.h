/* tuner.h: the measuring behind SHUNT_TUNE=1 (what for, and what becomes of the answers:
   tune.h).

   Called from preprocess, outside capture.  Synchronises `stream`; leaves the result's
   memory (C of SpMM, C's values of SDDMM) as it was.  Thread-safe.  */
#ifndef SHUNT_TUNER_H
#define SHUNT_TUNER_H

#include <cuda_runtime_api.h>

#include "backend/plan/problem.h"

/* Runs the original on the caller's own arguments: 0 for success. */
struct shunt_original_run {
  int (*run)(void *context);
  void *context;
};

/* Measures the original and every route that fits; the fastest is remembered.  Does
   nothing where p has batches or was measured before, or any of it fails.  */
void shunt_tuner_measure(const struct shunt_problem *p, void *workspace, size_t workspace_bytes,
                         cudaStream_t stream, const struct shunt_original_run *original);

#endif
