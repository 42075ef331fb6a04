/* entry.h: what the exported functions of spmm.c and sddmm.c have in common. */
#ifndef SHUNT_CUSPARSE_ENTRY_H
#define SHUNT_CUSPARSE_ENTRY_H

#include <cusparse.h>

#include "backend/cusparse/measure.h"
#include "backend/cusparse/original.h"
#include "backend/cusparse/preprocess_epoch.h"
#include "backend/options/disable.h"
#include "backend/plan/planner.h"
#include "backend/plan/tune/tuner.h"

/* Marks what the program may see.  All else is hidden; exports.map lists the same names. */
#define SHUNT_EXPORT __attribute__((visibility("default")))

/* Finds `original` for the caller of the exported function.  Without one the library's own "not
   initialized" is the answer.

   With SHUNT_DISABLE=1 the rest is a tail call: the original returns to the program.  (A wrapper
   behind us that finds its own original by RTLD_DEFAULT then calls itself for ever, as it does
   without us.)  Otherwise a call that comes from inside an original (a wrapper that found us again)
   is handed straight on.  */
#define SHUNT_ENTER(function, ...)                                                                 \
  const struct shunt_original *original = shunt_original_for(__builtin_return_address(0));         \
  if (!original || !original->function) return CUSPARSE_STATUS_NOT_INITIALIZED;                    \
  if (shunt_disabled()) return original->function(__VA_ARGS__);                                    \
  ++*shunt_entry_depth();                                                                          \
  if (*shunt_entry_depth() > 1) {                                                                  \
    cusparseStatus_t nested = original->function(__VA_ARGS__);                                     \
    --*shunt_entry_depth();                                                                        \
    return nested;                                                                                 \
  }
#define SHUNT_LEAVE() --*shunt_entry_depth()

struct shunt_entry_call {
  const char *name;   /* of the exported function, for the log */
  const void *caller; /* its return address */
  const struct shunt_original *library;
  cusparseConstSpMatDescr_t matrix; /* the sparse one */
  void *buffer;                     /* the program's */
  bool by_name;                     /* not through a pointer that dlsym gave: epochs count */
  struct shunt_problem problem;
  uint64_t hash; /* of the problem, once it is described: made once, for all who ask */
  cudaStream_t stream;
  struct shunt_answer answer;          /* why is the description's, the rest of shunt_entry_take */
  struct shunt_original_into original; /* for SHUNT_MEASURE */
};

/* May Shunt answer after the original's `status`?  Yes if that is success, or refuses what
   SHUNT_EXTEND may answer.  */
bool shunt_entry_may_answer(cusparseStatus_t status);

/* Was bufferSize asked for p before, by a program that asks before each product?  Then *bytes, what
   the original asks for, becomes the answer that it had.  Of SDDMM alone, which keeps nothing.  */
bool shunt_entry_size_again(const struct shunt_original *o, const struct shunt_problem *p,
                            size_t *bytes, cudaStream_t stream);

/* bufferSize's answer for p, the original having said `status` and *bytes: with room for Shunt in
   *bytes.  Of a problem that the original refused, success if Shunt will take it.  */
cusparseStatus_t shunt_entry_buffer_size(const struct shunt_original *o,
                                         const struct shunt_problem *p, cusparseStatus_t status,
                                         size_t *bytes, cudaStream_t stream);

/* After the original's preprocess has ended with `status`; the program's answer.  An epoch begins
   (preprocess_epoch.h) if the original did well and the call is by name; or, if it was captured, or
   may have been, this matrix has none from now on.  Profiles the pattern, and measures the ways if
   SHUNT_TUNE asks for it.  Of a problem that the original refuses, success if Shunt takes it.  */
cusparseStatus_t shunt_entry_preprocessed(struct shunt_entry_call *call, cusparseStatus_t status,
                                          struct shunt_original_run original);

/* Runs a described call through the planner and logs the decision.  True: the
   answer for the program is *status; false: the original must run.  */
bool shunt_entry_take(struct shunt_entry_call *call, cusparseStatus_t *status);

#endif
