/* preprocess_epoch.h: active buffers, cuSPARSE's promise that a pattern stays.

   cuSPARSE's documentation (cusparseSpMM_preprocess): a call with a matrix and a buffer makes this
   buffer the matrix's active one, and the one before it inactive.  As long as a buffer is active,
   calls with both may differ from that call in alpha, beta, the dense matrices and the values of
   the sparse one, in nothing else: its row offsets and columns stay what they were.

   Each preprocess begins an epoch of its own, which ends with the next one of the same matrix,
   when its arrays of indices are set, and when it is destroyed.  Calls of one epoch have the same
   pattern, so what was proved of the pattern in one holds in all others; across epochs
   nothing is known, even where all addresses are the same.

   A preprocess that is captured begins none, and ends the one before it: it has not run when the
   call returns, and may run at any time, each time with another pattern, or never.  So its matrix
   has no epochs from then on, until it is destroyed; where there is no room to note that, no matrix
   has any.  Products that are captured are proved whole, too (product.c).

   Matrices of SDDMM have epochs, too, by which a settled profile is found (backend/plan/cache.h).
   A profile is only a hint: their patterns are not taken to be the same.

   Programs that bind cuSPARSE by handle (trampolines.c) have no epochs, because they destroy
   matrices where we do not see it.  Of more than some thousands of matrices at a time a few are
   forgotten.

   Thread-safe.  */
#ifndef SHUNT_CUSPARSE_PREPROCESS_EPOCH_H
#define SHUNT_CUSPARSE_PREPROCESS_EPOCH_H

#include <cusparse.h>
#include <stdint.h>

#include "backend/plan/problem.h"

/* A product as preprocess and later calls must agree on it. */
struct shunt_preprocessed {
  cusparseConstSpMatDescr_t descriptor;
  const void *library; /* struct shunt_original: base */
  const void *buffer;
  const struct shunt_problem *problem;
  uint64_t hash; /* shunt_problem_hash of it */
};

/* p's buffer is active from now on; not where it has none.  The epoch that begins, or 0. */
uint64_t shunt_epoch_begin(const struct shunt_preprocessed *p);
/* No buffer of this matrix is. */
void shunt_epoch_end(cusparseConstSpMatDescr_t descriptor);
/* A preprocess of this matrix was captured. */
void shunt_epoch_captured(cusparseConstSpMatDescr_t descriptor);
/* The matrix is about to be destroyed: nothing of it counts for the next one at its address. */
void shunt_epoch_forget(cusparseConstSpMatDescr_t descriptor);
/* The epoch of p's pattern; 0: nothing is promised of it. */
uint64_t shunt_epoch_of(const struct shunt_preprocessed *p);

#endif
