/* opening.h: what is paid for once, and when it pays.

   Some ways to compute a product cost milliseconds before their first use: the pool that copies are
   made in, and cuBLASLt, which has to be opened and loads code for each type.  A program that ends
   after a few products never gets them back.  So each is closed at first, products take the best
   way that needs nothing closed, and a context counts for each what the calls so far would have
   taken less with it, in expected microseconds: what they missed.

   The call with which that comes to as much as the opening costs opens it.  So a program takes at
   most twice what it would have taken, had its number of calls been known (ski rental: Karlin,
   Manasse, Rudolph and Sleator, "Competitive snoopy caching", Algorithmica 3, 1988).  The pool
   costs less than the original's own first product.  As long as Shunt has taken all calls, the
   program has not paid for that one, and the first copy is made as soon as it is wanted.

   A captured call counts as SHUNT_OPENING_REPLAYS calls, since graphs are captured to be replayed.

   The way of a deterministic problem must not depend on other problems' calls: it opens what its
   best way needs at once, and never looks at what was missed.  So do routes that the user has
   forced (backend/plan/choice.c).

   Thread-safe: one thread opens, while the others go on without.  */
#ifndef SHUNT_OPENING_H
#define SHUNT_OPENING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/common/types.h"

enum shunt_opening {
  SHUNT_OPEN_COPIES, /* the first allocation of the pool */
  SHUNT_OPEN_F16,    /* cuBLASLt's products of this type into itself, */
  SHUNT_OPEN_F16_F32,
  SHUNT_OPEN_BF16,
  SHUNT_OPEN_BF16_F32,
  SHUNT_OPEN_F32,
  SHUNT_OPENINGS
};
enum { SHUNT_OPENING_REPLAYS = 10000 };

/* Of one context. */
struct shunt_openings {
  atomic_uint open, claimed; /* a bit for each */
  atomic_bool library_there; /* cuBLASLt is loaded already */
  atomic_bool original_ran;
  _Atomic int64_t missed[SHUNT_OPENINGS]; /* nanoseconds */
};

void shunt_openings_start(struct shunt_openings *o, bool library_there);

static inline uint32_t shunt_opening_bit(enum shunt_opening x)
{
  return (uint32_t)1 << x;
}
/* cuBLASLt's products of operands of type t, into f32 or into t. */
enum shunt_opening shunt_opening_of(shunt_type t, bool into_f32);

/* Those of `set` that are closed. */
static inline uint32_t shunt_openings_closed(const struct shunt_openings *o, uint32_t set)
{
  return set & ~atomic_load_explicit(&o->open, memory_order_acquire);
}

/* What opening x costs now. */
double shunt_opening_us(const struct shunt_openings *o, enum shunt_opening x);

/* Counts a call that would take `us` less if x were open.  True, for one caller alone: it pays now,
   and this caller is to open it.  */
bool shunt_opening_missed(struct shunt_openings *o, enum shunt_opening x, double us, bool captured);
/* It is open, or could not be opened, which is not tried again. */
void shunt_opening_opened(struct shunt_openings *o, enum shunt_opening x);

/* The original has run a product. */
static inline void shunt_opening_original(struct shunt_openings *o)
{
  atomic_store_explicit(&o->original_ran, true, memory_order_relaxed);
}

#endif
