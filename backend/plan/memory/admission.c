/* admission.c: which copies are made where not all have room, and which make way for them.

   A matrix whose copy has found no room counts what its calls miss without one; a copy counts what
   its uses have saved; both age alike.  So of matrices that come in turn all are worth the same,
   and those that have a copy keep it: a set that is too large settles with as many copies as there
   is room for, and the rest of it goes without.

     asks again      after ASK_AGAIN calls with its matrix: if there is room by then, or when it is
                     weighed against the copies, each time after twice as many calls
     takes a place   where what it missed, less its conversion, is half as much again, for each
                     byte, as what the others saved

   Whether it is of any use to ask is answered by what was known of the device when it was last
   looked at, at most RELIEVE_EVERY calls ago: so a set that has settled makes no call of CUDA.  */
#include <math.h>
#include <string.h>

#include "backend/log/log_upkeep.h"
#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/budget.h"

enum { ASK_AGAIN = 64, WEIGH_AGAIN_MOST = 512 };
/* So much more than others a copy must save to have their place: two never take turns. */
#define CLEARLY_MORE 1.5

/* ---- what copies are worth ----------------------------------------------------------------- */

/* Of a copy that may go: what it has saved of late. */
static double worth_of(const struct shunt_cache *c, const struct shunt_cache_packed *k)
{
  return cache_aged(k->worth, k->worth_at, c->clock);
}

/* Copies that may go, and what a byte of each is worth; those worth least, in that order. */
enum { BATCH = 64 };
struct batch {
  int count;
  struct shunt_cache_packed *copy[BATCH];
  double worth[BATCH];
};

static void put_in_order(struct batch *b, struct shunt_cache_packed *k, double worth)
{
  int i = b->count < BATCH ? b->count++ : BATCH - 1;
  if (b->count == BATCH && i == BATCH - 1 && b->copy[i] && b->worth[i] <= worth) return;
  for (; i > 0 && b->worth[i - 1] > worth; i--) {
    b->copy[i] = b->copy[i - 1];
    b->worth[i] = b->worth[i - 1];
  }
  b->copy[i] = k;
  b->worth[i] = worth;
}

/* Which copies may go: those worth less than `a_byte` for each byte, and `each` in all; of so many
   bytes at least.  What is worth nothing has nobody's place.  */
struct victims {
  double a_byte, each;
  int64_t at_least;
};

/* Their bytes in all. */
static int64_t least_worth(const struct shunt_cache *c, const struct victims *v, struct batch *b)
{
  int64_t bytes = 0;
  memset(b, 0, sizeof *b);
  for (struct shunt_cache_packed *k = c->first[LIVE]; k; k = k->behind) {
    const double worth = worth_of(c, k), a_byte = worth / (double)k->bytes;
    if (a_byte >= v->a_byte || worth >= v->each || (int64_t)k->bytes < v->at_least) continue;
    if (atomic_load(&k->holds) > 0 || cache_is_study_under_way(k)) continue;
    bytes += (int64_t)k->bytes;
    put_in_order(b, k, a_byte);
  }
  return bytes;
}

/* Lets them go until no more than `most` bytes are kept. */
static void let_go(struct shunt_cache *c, int64_t most, const struct victims *v)
{
  struct batch b;
  if (c->bytes <= most) return;
  least_worth(c, v, &b);
  while (c->bytes > most && b.count > 0) {
    for (int i = 0; i < b.count && c->bytes > most; i++) {
      shunt_cache_packed_retire(b.copy[i]);
      cache_reap(c, b.copy[i]);
    }
    if (c->bytes > most) least_worth(c, v, &b);
  }
}

void cache_give_way(struct shunt_cache *c, int64_t most, double worth)
{
  const struct victims v = {.a_byte = worth, .each = INFINITY};
  let_go(c, most, &v);
}

/* ---- what matrices without a copy miss ------------------------------------------------------- */

/* What the entry has missed since it first found no room, this call included.  The calls since it
   was last said were spread over the time since then.  */
static double missed_by(const struct shunt_cache *c, const struct shunt_cache_entry *e, double us)
{
  const double halvings = (double)(c->clock - e->missed_at) / HALF_LIFE, log2e = 1.4426950408889634;
  if (!e->missed_call) return us;
  const double aged = halvings > 1e-6 ? (1 - exp2(-halvings)) * log2e / halvings : 1;
  return cache_aged(e->missed, e->missed_at, c->clock) + us * aged * (e->calls - e->missed_call);
}

/* Bytes of the copy that a study is for, where one has found no room. */
static size_t study_wants(const struct shunt_cache_entry *e, const struct shunt_packed_request *r)
{
  for (int i = 0; !r->by && i < SHUNT_MOST_PACKED; i++)
    if (r->study_for && r->study_for == e->refused[i].by) return e->refused[i].bytes;
  return 0;
}

struct cache_wish cache_wish_for(const struct shunt_cache *c, struct shunt_cache_entry *e,
                                 const struct shunt_packed_request *r)
{
  struct cache_wish w = {.bytes = (int64_t)(HEADER_BYTES + r->payload_bytes)};
  w.with = w.bytes + (int64_t)study_wants(e, r);
  if (r->by) {
    e->missed = missed_by(c, e, r->saves_us);
    e->missed_at = c->clock;
    e->missed_call = e->calls;
    e->misses_us = r->saves_us;
    e->makes_us = r->makes_us;
    w.worth = fmax(e->missed - r->makes_us, 0);
  } else
    w.worth = cache_aged(e->missed, e->missed_at, c->clock);
  return w;
}

void cache_refuse(struct shunt_cache_entry *e, const struct shunt_packed_request *r)
{
  int at = 0;
  e->pack_from = e->calls + ASK_AGAIN;
  e->hopes = false;
  if (!r->by) return;
  for (int i = SHUNT_MOST_PACKED - 1; i >= 0; i--)
    if (!e->refused[i].by || e->refused[i].by == r->by) at = i;
  e->refused[at].by = r->by;
  e->refused[at].bytes = HEADER_BYTES + r->payload_bytes;
}

void cache_forget_refusals(struct shunt_cache_entry *e)
{
  memset(e->refused, 0, sizeof e->refused);
  e->hopes = false;
  e->missed = 0;
  e->missed_call = e->weigh_from = e->weigh_wait = 0;
}

/* ---- room ----------------------------------------------------------------------------------- */

/* That is the budget of all processes on the device together; this one's part of it is `mine`:

     free now     more than half of the device   c->ample_bytes
                  otherwise                      c->most_bytes
                  less than a twentieth          none, as that is left to the program  */
static struct cache_allowance look(const struct shunt_cache *c, int64_t need)
{
  size_t available, total;
  struct cache_allowance a = {0, 0};
  if (SHUNT_CUDA(cudaMemGetInfo(&available, &total)) != SHUNT_OK) return a;
  shunt_log_memory(c->bytes, (int64_t)(total - available));
  if (available < (size_t)need + total / 20) return a;
  a.budget = a.mine = available > (size_t)need + total / 2 ? c->ample_bytes : c->most_bytes;
  if (c->budget) a.mine = shunt_budget_allows(c->budget, a.budget);
  return a;
}

struct cache_allowance cache_allowance(struct shunt_cache *c, int64_t need)
{
  c->known = look(c, need);
  c->known_at = c->clock + 1;
  return c->known;
}

/* What copies may have beside a new one, and which may go for it.  Where the pool is full, it has
   the place of one as large, or none.  */
struct terms {
  bool full;
  int64_t rest;
  struct victims victims;
};

static struct terms terms_of(const struct shunt_cache *c, const struct cache_wish *w, int64_t mine)
{
  const bool full = cache_is_full(c, w->with, mine);
  const double enough = w->worth / CLEARLY_MORE;
  return (struct terms){
      .full = full,
      .rest = (full && c->bytes < mine ? c->bytes : mine) - w->with,
      .victims = {enough / (double)w->with, enough, full ? w->with : 0},
  };
}

/* Is there room, or enough that may go? */
static bool can_have(const struct shunt_cache *c, const struct terms *t)
{
  struct batch unused;
  if (c->bytes <= t->rest || t->victims.a_byte < 0) return c->bytes <= t->rest;
  return c->bytes - least_worth(c, &t->victims, &unused) <= t->rest;
}

static void want(struct shunt_cache *c, int64_t bytes, struct cache_allowance most)
{
  if (c->budget && most.mine < most.budget) shunt_budget_want(c->budget, bytes);
}

/* Where memory was short it is looked at sooner. */
static bool is_known(const struct shunt_cache *c)
{
  const bool is_short = c->known.budget < c->most_bytes;
  return c->known_at && c->clock + 1 - c->known_at < (is_short ? RELIEVE_LATE : RELIEVE_EVERY);
}

bool cache_may_hope(struct shunt_cache *c, const struct cache_wish *w)
{
  if (!is_known(c)) return true;
  const struct terms t = terms_of(c, w, c->known.mine);
  const bool spread = c->reserved > cache_most_spread(c->known.mine);
  if (!spread && w->with <= c->known.budget && can_have(c, &t)) return true;
  want(c, w->with, c->known);
  return false;
}

/* Not much larger than what needs the place. */
struct shunt_cache_packed *cache_predecessor(const struct shunt_cache *c,
                                             const struct cache_wish *w,
                                             struct cache_allowance most)
{
  struct terms t = terms_of(c, w, most.mine);
  struct batch b;
  if (w->with != w->bytes || c->bytes <= t.rest || c->bytes > most.mine) return NULL;
  t.victims.at_least = w->bytes;
  least_worth(c, &t.victims, &b);
  for (int i = 0; i < b.count; i++)
    if ((int64_t)b.copy[i]->bytes <= w->bytes + w->bytes / 4) return b.copy[i];
  return NULL;
}

bool cache_make_room(struct shunt_cache *c, const struct cache_wish *w, struct cache_allowance most)
{
  const bool spread = cache_is_spread(c, most.mine);
  const struct terms t = terms_of(c, w, most.mine);
  /* None goes where all that may would not be enough. */
  if (t.full || spread || w->with > most.budget || !can_have(c, &t)) {
    want(c, w->with, most);
    return false;
  }
  /* The copy that a study is for will have its own place made. */
  let_go(c, t.rest + w->with - w->bytes, &t.victims);
  const int64_t counted = cache_counted(c), kept = c->bytes + w->bytes;
  if (!c->budget || shunt_budget_take(c->budget, counted > kept ? counted : kept, most.budget))
    return true;
  shunt_budget_want(c->budget, w->bytes);
  c->known.mine = c->bytes; /* pieces of the pool count for more than is in them */
  return false;
}

/* ---- asking again ---------------------------------------------------------------------------- */

/* Is there room for a copy of the entry that found none, or, weighed, may others be worth less by
   now?  */
static bool is_worth_asking(struct shunt_cache *c, struct shunt_cache_entry *e, bool weigh)
{
  const double worth = missed_by(c, e, e->misses_us) - e->makes_us;
  bool hope = false;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++) {
    const int64_t bytes = (int64_t)e->refused[i].bytes;
    const struct cache_wish w = {bytes, bytes, weigh ? fmax(worth, 0) : -1};
    if (e->refused[i].by && !hope) hope = cache_may_hope(c, &w);
  }
  return hope;
}

bool cache_asks_again(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  if (e->calls < e->pack_from) return false;
  if (!e->refused[0].by || e->hopes) return true;
  const bool weigh = e->calls >= e->weigh_from;
  e->hopes = is_worth_asking(c, e, weigh);
  if (e->hopes) return true;
  e->pack_from = e->calls + ASK_AGAIN;
  if (weigh) {
    e->weigh_wait = e->weigh_wait ? e->weigh_wait * 2 : ASK_AGAIN;
    if (e->weigh_wait > WEIGH_AGAIN_MOST) e->weigh_wait = WEIGH_AGAIN_MOST;
    e->weigh_from = e->calls + e->weigh_wait;
  }
  return false;
}
