/* frozen.h: SHUNT_ASSUME=frozen, the user's promise that a matrix which was met unchanged often
   enough stays as it is.  When may a packed copy be used without the proof that it still stands for
   the program's arrays?

     proving ---- SHUNT_FROZEN_PROOFS uses ----> waiting ---- their proofs have passed ----> trusted
     each use is proved                          each use is proved        one of SHUNT_FROZEN_SHARE
                                                                           uses is proved

   A copy of arrays at addresses that were not met before, or whose allocation was freed since, is
   another copy and begins anew (cache.h).  Captured uses are always proved, as a graph may be
   replayed at any time.

   Where a proof fails of a copy that was trusted, the promise was broken: that is said once on
   standard error and in the report, and from then on nothing is trusted in this process.

   Thread-safety: all functions may be called from any thread.  Of uses that begin at the
   same time a few more than that share may go without a proof.  */
#ifndef SHUNT_FROZEN_H
#define SHUNT_FROZEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  SHUNT_FROZEN_PROOFS = 8, /* uses before a copy may be trusted */
  SHUNT_FROZEN_SHARE = 64  /* of so many uses of a trusted copy one is proved */
};

/* Of one copy; all zero: proving. */
struct shunt_trust {
  atomic_uint proofs;   /* uses that were proved, up to SHUNT_FROZEN_PROOFS */
  atomic_uint unproved; /* uses since the last proof */
  atomic_bool passed;   /* the device has done those proofs, and none has failed */
};

/* Has the user made the promise, and is it not known to be broken? */
bool shunt_frozen_assumed(void);

/* May the next use go without a proof? */
bool shunt_trust_spares_proof(const struct shunt_trust *t);
/* Counts a use.  True once: with this one the proofs are enough to be waited for. */
bool shunt_trust_used(struct shunt_trust *t, bool proved);
/* The proofs have passed. */
void shunt_trust_pass(struct shunt_trust *t);

/* A proof of a copy has failed.  Of a trusted one: the promise is broken. */
void shunt_trust_fail(const struct shunt_trust *t, int64_t rows, int64_t cols, int64_t nnz);
/* Was a promise broken? */
bool shunt_frozen_broken(void);

#endif
