/* packed.c: device memory that outlives calls: how much there may be, which copies make way for
   which, and how it is given back.  */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/log/log_upkeep.h"
#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/budget.h"
#include "backend/plan/memory/device_memory.h"

/* ---- lists, newest first ---------------------------------------------------------------- */

static void link_first(struct shunt_cache *c, struct shunt_cache_packed *k, enum state state)
{
  k->state = state;
  k->before = NULL;
  k->behind = c->first[state];
  *(k->behind ? &k->behind->before : &c->last[state]) = k;
  c->first[state] = k;
}

/* From the list of its state to that of another. */
static void move_to(struct shunt_cache_packed *k, enum state state)
{
  struct shunt_cache *c = k->cache;
  *(k->before ? &k->before->behind : &c->first[k->state]) = k->behind;
  *(k->behind ? &k->behind->before : &c->last[k->state]) = k->before;
  link_first(c, k, state);
}

/* ---- pinned words, in pages ---------------------------------------------------------- */

shunt_status shunt_cache_words_add(struct shunt_cache *c)
{
  struct shunt_cache_packed *packed;
  struct word *word;
  if (c->word_pages == MOST_WORD_PAGES) return SHUNT_E_MEMORY;
  packed = SHUNT_TRY_OR(NULL, calloc(WORD_PAGE, sizeof *packed));
  if (!packed) return SHUNT_E_MEMORY;
  shunt_status s =
      SHUNT_CUDA(cudaHostAlloc((void **)&word, WORD_PAGE * sizeof *word, cudaHostAllocPortable));
  if (s != SHUNT_OK) {
    free(packed);
    return s;
  }
  memset(word, 0, WORD_PAGE * sizeof *word);
  for (int i = 0; i < WORD_PAGE; i++) {
    struct shunt_cache_packed *k = &packed[i];
    k->word = &word[i];
    k->cache = c;
    link_first(c, k, FREE);
  }
  c->words[c->word_pages].packed = packed;
  c->words[c->word_pages].word = word;
  c->word_pages++;
  return SHUNT_OK;
}

void shunt_cache_words_free(struct shunt_cache *c)
{
  for (int i = 0; i < c->word_pages; i++) {
    cudaFreeHost(c->words[i].word);
    free(c->words[i].packed);
  }
}

void shunt_cache_reserve(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode;
  pthread_mutex_lock(&c->lock);
  if (c->packed_in_use + WORD_PAGE / 4 > c->word_pages * WORD_PAGE) {
    mode = shunt_enter_relaxed();
    shunt_cache_words_add(c); /* without: fewer copies */
    shunt_leave_relaxed(mode);
  }
  pthread_mutex_unlock(&c->lock);
}

/* ---- giving back ----------------------------------------------------------------------- */

void shunt_cache_packed_retire(struct shunt_cache_packed *k)
{
  struct shunt_cache_entry *e = k->owner;
  move_to(k, RETIRED);
  for (int i = 0; e && i < SHUNT_MOST_PACKED; i++)
    if (e->packed[i] == k) e->packed[i] = NULL;
  if (e && e->study == k) e->study = NULL;
  k->owner = NULL;
}

static void drop_events(struct shunt_cache_packed *k)
{
  for (int i = 0; i < k->uses; i++)
    if (k->use[i].event) cudaEventDestroy(k->use[i].event);
  k->uses = k->oldest_use = 0;
}

/* Gives a retired copy's memory back after its last use, without waiting. */
static void reap(struct shunt_cache *c, struct shunt_cache_packed *k)
{
  for (int i = 0; i < k->uses; i++)
    if (SHUNT_CUDA(cudaStreamWaitEvent(c->reaper, k->use[i].event, 0)) != SHUNT_OK) return;
  if (k->memory && shunt_device_free(k->memory, c->reaper) != SHUNT_OK) return;
  k->memory = NULL;
  c->bytes -= (int64_t)k->bytes;
  c->untrimmed += (int64_t)k->bytes;
  shunt_log_memory(c->bytes, -1);
  k->bytes = 0;
  c->outgrown = 0;
  cache_announce(c);
  if (SHUNT_CUDA(cudaEventRecord(k->reaped, c->reaper)) == SHUNT_OK) move_to(k, REAPED);
}

void shunt_cache_packed_tidy(struct shunt_cache *c)
{
  for (struct shunt_cache_packed *k = c->first[RETIRED], *behind; k; k = behind) {
    behind = k->behind;
    if (atomic_load(&k->holds) == 0) reap(c, k);
  }
  /* One stream gives them back, the oldest first. */
  for (struct shunt_cache_packed *k = c->last[REAPED], *before; k; k = before) {
    before = k->before;
    if (cudaEventQuery(k->reaped) != cudaSuccess) break;
    drop_events(k);
    cudaEventDestroy(k->reaped);
    if (k->proved) cudaEventDestroy(k->proved);
    k->reaped = k->proved = NULL;
    move_to(k, FREE);
    c->packed_in_use--;
  }
}

/* ---- worth ------------------------------------------------------------------------------- */

/* Of a copy that may go: what a byte of it has saved of late. */
static double worth_a_byte(const struct shunt_cache *c, const struct shunt_cache_packed *k)
{
  return cache_aged(k->worth, k->worth_at, c->clock) / (double)k->bytes;
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

/* Of those worth up to `most` a byte.  Their bytes in all. */
static int64_t least_worth(const struct shunt_cache *c, double most, struct batch *b)
{
  int64_t bytes = 0;
  memset(b, 0, sizeof *b);
  for (struct shunt_cache_packed *k = c->first[LIVE]; k; k = k->behind) {
    if (atomic_load(&k->holds) > 0) continue;
    const double worth = worth_a_byte(c, k);
    if (worth > most) continue;
    bytes += (int64_t)k->bytes;
    put_in_order(b, k, worth);
  }
  return bytes;
}

/* Lets copies worth up to `worth` a byte go until no more than `most` bytes are kept. */
static void give_way(struct shunt_cache *c, int64_t most, double worth)
{
  struct batch b;
  if (c->bytes <= most) return;
  least_worth(c, worth, &b);
  while (c->bytes > most && b.count > 0) {
    for (int i = 0; i < b.count && c->bytes > most; i++) {
      shunt_cache_packed_retire(b.copy[i]);
      reap(c, b.copy[i]);
    }
    if (c->bytes > most) least_worth(c, worth, &b);
  }
}

/* What the entry has missed since it first found no room, this call included. */
static double missed_by(struct shunt_cache *c, struct shunt_cache_entry *e, double saves_us)
{
  const uint32_t calls = e->missed_call ? e->calls - e->missed_call : 1;
  e->missed = cache_aged(e->missed, e->missed_at, c->clock) + saves_us * calls;
  e->missed_at = c->clock;
  e->missed_call = e->calls;
  return e->missed;
}

/* ---- room ----------------------------------------------------------------------------------- */

/* Bytes that copies may have, `need` more of them included; less than they have: they are to go.

     free now     more than half of the device   c->ample_bytes
                  otherwise                      c->most_bytes
                  less than a twentieth          none, as that is left to the program

   That is the budget of all processes on the device together; this one's part of it is `mine`.  */
struct allowance {
  int64_t budget, mine;
};

static struct allowance allowance(const struct shunt_cache *c, size_t need)
{
  size_t available, total;
  struct allowance a = {0, 0};
  if (SHUNT_CUDA(cudaMemGetInfo(&available, &total)) != SHUNT_OK) return a;
  shunt_log_memory(c->bytes, (int64_t)(total - available));
  if (available < need + total / 20) return a;
  a.budget = a.mine = available > need + total / 2 ? c->ample_bytes : c->most_bytes;
  if (c->budget) a.mine = shunt_budget_allows(c->budget, a.budget);
  return a;
}

/* What copies may have beside a new one.  One as large as that which made the pool too large, where
   the pool must not take more, has the place of others or none.  */
static int64_t rest_beside(const struct shunt_cache *c, int64_t bytes, int64_t mine)
{
  const int64_t pieces = (bytes + CACHE_PIECE - 1) / CACHE_PIECE;
  const bool full =
      c->outgrown > 0 && bytes >= c->outgrown && cache_reserved(c) + pieces * CACHE_PIECE > mine;
  return (full && c->bytes < mine ? c->bytes : mine) - bytes;
}

/* A copy makes way for one that is worth half as much again: so two never take turns. */
static bool make_room(struct shunt_cache *c, size_t bytes, double worth_a_byte_of_it,
                      struct allowance most)
{
  const double enough = worth_a_byte_of_it / 1.5;
  if ((int64_t)bytes > most.budget) return false;
  const int64_t rest = rest_beside(c, (int64_t)bytes, most.mine);
  struct batch unused;
  /* None goes where all that may would not be enough. */
  if (c->bytes > rest && c->bytes - least_worth(c, enough, &unused) <= rest)
    give_way(c, rest, enough);
  const int64_t counted = cache_counted(c), kept = c->bytes + (int64_t)bytes;
  if (c->bytes > rest || cache_is_spread(c, most.mine)) {
    if (c->budget && most.mine < most.budget) shunt_budget_want(c->budget, (int64_t)bytes);
    return false;
  }
  if (!c->budget || shunt_budget_take(c->budget, counted > kept ? counted : kept, most.budget))
    return true;
  shunt_budget_want(c->budget, (int64_t)bytes);
  return false;
}

static shunt_status open_slot(struct shunt_cache *c, struct shunt_cache_packed *k,
                              struct shunt_cache_entry *e, const struct shunt_packed_request *r,
                              cudaStream_t stream)
{
  const size_t bytes = HEADER_BYTES + r->payload_bytes;
  shunt_status s = SHUNT_CUDA(cudaEventCreateWithFlags(&k->reaped, cudaEventDisableTiming));
  if (s != SHUNT_OK) return s;
  s = shunt_device_allocate((void **)&k->memory, bytes, c->pool, stream);
  if (s != SHUNT_OK) {
    cudaEventDestroy(k->reaped);
    k->reaped = NULL;
    k->memory = NULL;
    return s;
  }
  memset((void *)k->word, 0, sizeof *k->word);
  move_to(k, LIVE);
  k->owner = e;
  k->by = r->by;
  k->bytes = bytes;
  atomic_store(&k->built, false);
  k->by_study = false;
  k->note = 0;
  k->pattern_epoch = 0;
  k->uses = k->oldest_use = 0;
  k->worth = e->missed; /* at first: what calls lost without a copy */
  k->worth_at = c->clock;
  atomic_store(&k->idle, 0);
  atomic_store(&k->used, 0);
  atomic_store(&k->holds, 1);
  memset(&k->trust, 0, sizeof k->trust);
  atomic_store(&k->awaited, false);
  if (r->by) {
    e->missed = 0;
    e->missed_call = 0;
    e->no_room_of = NULL;
  }
  c->bytes += (int64_t)bytes;
  shunt_log_memory(c->bytes, -1);
  c->packed_in_use++;
  return SHUNT_OK;
}

/* Undoes a copy that made the pool take more than it may.  False: it stays. */
static bool take_back(struct shunt_cache *c, struct shunt_cache_packed *k, cudaStream_t stream)
{
  struct shunt_cache_entry *e = k->owner;
  const int64_t bytes = (int64_t)k->bytes;
  if (shunt_cache_packed_touched(c, k, false, stream) != SHUNT_OK) return false;
  if (k->by) {
    e->missed = k->worth;
    e->missed_call = e->calls;
  }
  atomic_store(&k->holds, 0);
  shunt_cache_packed_retire(k);
  reap(c, k);
  c->outgrown = bytes;
  atomic_store(&c->relief_due, true);
  return true;
}

/* Is the pool, which had `before`, within what it may have? */
static bool pool_fits(struct shunt_cache *c, int64_t before, struct allowance most)
{
  const int64_t reserved = cache_reserved(c);
  if (reserved <= before || reserved <= CACHE_PIECE) return true;
  return !cache_is_spread(c, most.mine) &&
         (!c->budget || shunt_budget_take(c->budget, cache_counted(c), most.budget));
}

/* Is there, or can there be, room for the copy that a study is for, if one has found none?  Else
   it would be made again and again, and copies make way for it.  */
static bool is_study_of_use(struct shunt_cache *c, size_t with_copy, double worth_a_byte_of_it,
                            struct allowance most)
{
  const int64_t bytes = (int64_t)with_copy, rest = rest_beside(c, bytes, most.mine);
  struct batch unused;
  if (bytes <= most.budget &&
      (c->bytes <= rest || c->bytes - least_worth(c, worth_a_byte_of_it / 1.5, &unused) <= rest))
    return true;
  if (c->budget && most.mine < most.budget) shunt_budget_want(c->budget, bytes);
  return false;
}

/* Bytes of the copy that a study is for, where one has found no room. */
static size_t study_wants(const struct shunt_cache_entry *e, const struct shunt_packed_request *r)
{
  return !r->by && r->study_for && r->study_for == e->no_room_of ? e->no_room : 0;
}

/* A copy of the entry in a slot and in memory of the device; NULL: there is no room. */
static struct shunt_cache_packed *place_copy(struct shunt_cache *c, struct shunt_cache_entry *e,
                                             const struct shunt_packed_request *r,
                                             cudaStream_t stream)
{
  const size_t bytes = HEADER_BYTES + r->payload_bytes, with = bytes + study_wants(e, r);
  const double worth =
      (r->by ? missed_by(c, e, r->saves_us) : cache_aged(e->missed, e->missed_at, c->clock)) /
      (double)with;
  const struct allowance most = allowance(c, with);
  const bool wise = with == bytes || is_study_of_use(c, with, worth, most);
  struct shunt_cache_packed *k = wise && make_room(c, bytes, worth, most) ? c->first[FREE] : NULL;
  const int64_t before = k ? cache_reserved(c) : 0;
  if (k && open_slot(c, k, e, r, stream) != SHUNT_OK) k = NULL;
  if (k && !pool_fits(c, before, most) && take_back(c, k, stream)) k = NULL;
  cache_announce(c);
  return k;
}

/* An empty place of the entry for a study, or for a copy by `by`. */
static struct shunt_cache_packed **empty_place(struct shunt_cache_entry *e, const void *by)
{
  if (!by) return e->study ? NULL : &e->study;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (e->packed[i] && e->packed[i]->by == by) return NULL;
  struct shunt_cache_packed **place = cache_place(e);
  if (place && *place) shunt_cache_packed_retire(*place);
  return place;
}

shunt_status shunt_cache_packed_make(struct shunt_cache *c, const struct shunt_lookup *l,
                                     const struct shunt_packed_request *r, cudaStream_t stream,
                                     struct shunt_cache_packed **out)
{
  enum { ASK_AGAIN = 64 };
  struct shunt_cache_entry *e = l->entry;
  shunt_status s = SHUNT_E_MEMORY;
  if (!e) return s;
  enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  pthread_mutex_lock(&c->lock);
  struct shunt_cache_packed **place = e->identity == l->identity ? empty_place(e, r->by) : NULL;
  if (place) {
    shunt_cache_packed_tidy(c);
    struct shunt_cache_packed *k = place_copy(c, e, r, stream);
    if (k) {
      s = SHUNT_OK;
      k->by_study = r->by && l->study;
      k->made_at = l->calls;
      *place = *out = k;
    } else {
      e->pack_from = e->calls + ASK_AGAIN;
      if (r->by) {
        e->no_room = HEADER_BYTES + r->payload_bytes;
        e->no_room_of = r->by;
      }
    }
  }
  pthread_mutex_unlock(&c->lock);
  shunt_leave_relaxed(mode);
  return s;
}

struct shunt_packed_view shunt_cache_packed_view(struct shunt_cache_packed *k)
{
  return (struct shunt_packed_view){
      .irregular = (uint32_t *)k->memory,
      .fingerprint = (struct shunt_fingerprint *)(k->memory + FINGERPRINTS_AT),
      .of_values = (struct shunt_fingerprint *)(k->memory + FINGERPRINTS_AT) + 1,
      .measures = k->memory + MEASURES_AT,
      .known = k->word->stamp ? (const void *)k->word->measures : NULL,
      .note = &k->note,
      .pattern_epoch = &k->pattern_epoch,
      .payload = k->memory + HEADER_BYTES,
      .payload_bytes = k->bytes - HEADER_BYTES,
      .changed = (uint32_t *)&k->word->changed,
      .nonfinite = (uint32_t *)&k->word->nonfinite,
  };
}

/* ---- when memory is short -------------------------------------------------------------------- */

void shunt_cache_share(struct shunt_cache *c, struct shunt_budget *budget)
{
  c->budget = budget;
}

bool shunt_cache_wants_relief(struct shunt_cache *c)
{
  return (c->budget && shunt_budget_stirred(c->budget)) ||
         atomic_load_explicit(&c->relief_due, memory_order_relaxed);
}

/* Where copies take more of the device than they may, though they are less: what is free goes, then
   half of them, those worth least, and again until it is enough.  Later, where the device has not
   come so far.  */
static void shrink(struct shunt_cache *c, int64_t most)
{
  if (c->untrimmed > 0 && !cache_trim(c)) {
    atomic_store(&c->relief_due, true);
  } else if (cache_is_spread(c, most)) {
    give_way(c, c->bytes / 2, INFINITY);
    if (c->untrimmed > 0) atomic_store(&c->relief_due, true);
  }
  cache_announce(c);
}

void shunt_cache_relieve(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  atomic_store(&c->relief_due, false);
  pthread_mutex_lock(&c->lock);
  shunt_cache_packed_tidy(c);
  const int64_t most = c->bytes > 0 ? allowance(c, 0).mine : 0;
  give_way(c, most, INFINITY);
  if (cache_is_spread(c, most) || (c->budget && most == 0 && c->untrimmed > 0)) shrink(c, most);
  pthread_mutex_unlock(&c->lock);
  shunt_leave_relaxed(mode);
}

/* Until what was given back is with the device; not for long, as uses of copies may wait for what
   the program does next.  */
static void await_reaper(const struct shunt_cache *c)
{
  enum { ROUNDS = 300, ROUND_NS = 1000000 };
  for (int i = 0; i < ROUNDS && cudaStreamQuery(c->reaper) == cudaErrorNotReady; i++)
    nanosleep(&(struct timespec){0, ROUND_NS}, NULL);
}

size_t shunt_cache_release_all(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  pthread_mutex_lock(&c->lock);
  const int64_t before = c->bytes;
  for (struct shunt_cache_packed *k = c->first[LIVE], *behind; k; k = behind) {
    behind = k->behind;
    if (atomic_load(&k->holds) > 0) continue;
    if (k->owner) k->owner->pack_from = k->owner->calls + 64;
    shunt_cache_packed_retire(k);
  }
  shunt_cache_packed_tidy(c);
  int64_t given = before - c->bytes;
  const int64_t all = c->untrimmed; /* what went before is not with the device, either */
  const bool waits = all > 0 && all != c->awaited_in_vain;
  pthread_mutex_unlock(&c->lock);
  if (waits) await_reaper(c);
  pthread_mutex_lock(&c->lock);
  const bool trimmed = all > 0 && cache_trim(c);
  if (trimmed) given = all;
  c->awaited_in_vain = trimmed ? 0 : all;
  cache_announce(c);
  pthread_mutex_unlock(&c->lock);
  shunt_leave_relaxed(mode);
  return (size_t)given;
}
