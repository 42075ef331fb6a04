#include "backend/plan/frozen.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "backend/options/options.h"

static atomic_bool broken;

bool shunt_frozen_broken(void)
{
  return atomic_load_explicit(&broken, memory_order_relaxed);
}

bool shunt_frozen_assumed(void)
{
  return shunt_options()->assume == SHUNT_ASSUME_FROZEN && !shunt_frozen_broken();
}

bool shunt_trust_spares_proof(const struct shunt_trust *t)
{
  return atomic_load_explicit(&t->passed, memory_order_acquire) &&
         atomic_load_explicit(&t->unproved, memory_order_relaxed) + 1 < SHUNT_FROZEN_SHARE;
}

bool shunt_trust_used(struct shunt_trust *t, bool proved)
{
  if (!proved) {
    atomic_fetch_add(&t->unproved, 1);
    return false;
  }
  atomic_store(&t->unproved, 0);
  if (atomic_load(&t->proofs) >= SHUNT_FROZEN_PROOFS) return false;
  return atomic_fetch_add(&t->proofs, 1) + 1 == SHUNT_FROZEN_PROOFS;
}

void shunt_trust_pass(struct shunt_trust *t)
{
  atomic_store_explicit(&t->passed, true, memory_order_release);
}

void shunt_trust_fail(const struct shunt_trust *t, int64_t rows, int64_t cols, int64_t nnz)
{
  const int saved_errno = errno;
  if (!atomic_load(&t->passed) || atomic_exchange(&broken, true)) return;
  fprintf(stderr,
          "shunt: a matrix of %" PRId64 " x %" PRId64 " with %" PRId64
          " entries has changed, which SHUNT_ASSUME=frozen says none does: results since its last"
          " proof may be wrong; all matrices are proved in each call from now on\n",
          rows, cols, nnz);
  errno = saved_errno;
}
