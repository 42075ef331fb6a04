/* lazy_init.h: what is initialized once in a context, and when that pays.

   Some ways to compute a product cost milliseconds before their first use: the pool that copies are
   made in, and cuBLASLt, which has to be opened and loads code for each type.  A program that ends
   after a few products never gets them back.  So each waits: products take the best way that needs
   nothing new, and a context counts for each part what the calls so far would have taken less with
   it, in expected microseconds: what they missed.

   The call with which that comes to as much as the initialization takes starts it.  So a program
   takes at most twice what it would have taken, had its number of calls been known (ski rental:
   Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching", Algorithmica 3, 1988).  The
   pool costs less than the original's own first product.  As long as Shunt has taken all calls, the
   program has not paid for that one, and the first copy is made as soon as it is wanted.

   A captured call counts as SHUNT_LAZY_REPLAYS calls, since graphs are captured to be replayed.

   The way of a deterministic problem must not depend on other problems' calls: what its best way
   needs is initialized at once, and what was missed is never looked at.  So it is for routes that
   the user has forced (backend/plan/choice.c).

   Thread-safe: one thread initializes, while the others go on without.  */
#ifndef SHUNT_LAZY_INIT_H
#define SHUNT_LAZY_INIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/common/types.h"

enum shunt_lazy_part {
  SHUNT_LAZY_COPIES, /* the first allocation of the pool */
  SHUNT_LAZY_F16,    /* cuBLASLt's products of this type into itself, */
  SHUNT_LAZY_F16_F32,
  SHUNT_LAZY_BF16,
  SHUNT_LAZY_BF16_F32,
  SHUNT_LAZY_F32,
  SHUNT_LAZY_F64,
  SHUNT_LAZY_C32,
  SHUNT_LAZY_C64,
  SHUNT_LAZY_PARTS
};
enum { SHUNT_LAZY_REPLAYS = 10000 };

/* Of one context. */
struct shunt_lazy_init {
  atomic_uint ready, claimed; /* a bit for each */
  atomic_bool library_there;  /* cuBLASLt is loaded already */
  atomic_bool original_ran;
  _Atomic int64_t missed[SHUNT_LAZY_PARTS]; /* nanoseconds */
};

void shunt_lazy_start(struct shunt_lazy_init *o, bool library_there);

static inline uint32_t shunt_lazy_bit(enum shunt_lazy_part x)
{
  return (uint32_t)1 << x;
}
/* cuBLASLt's products of operands of type t, into f32 or into t. */
enum shunt_lazy_part shunt_lazy_gemm(shunt_type t, bool into_f32);

/* Those of `set` that are not initialized. */
static inline uint32_t shunt_lazy_pending(const struct shunt_lazy_init *o, uint32_t set)
{
  return set & ~atomic_load_explicit(&o->ready, memory_order_acquire);
}

/* What part x costs now. */
double shunt_lazy_us(const struct shunt_lazy_init *o, enum shunt_lazy_part x);

/* Counts a call that would take `us` less with x.  True, for one caller alone: it pays now, and
   this caller is to initialize it.  */
bool shunt_lazy_missed(struct shunt_lazy_init *o, enum shunt_lazy_part x, double us, bool captured);
/* It is initialized, or could not be, which is not tried again. */
void shunt_lazy_done(struct shunt_lazy_init *o, enum shunt_lazy_part x);

/* The original has run a product. */
static inline void shunt_lazy_original_ran(struct shunt_lazy_init *o)
{
  atomic_store_explicit(&o->original_ran, true, memory_order_relaxed);
}

#endif
