/* packed.c: device memory that outlives calls: its room, its uses, and how it is given back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/log/log_upkeep.h"
#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/budget.h"
#include "backend/plan/memory/device_memory.h"

enum { HEADER_BYTES = 256, FINGERPRINTS_AT = 16, MEASURES_AT = 48 };

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
  shunt_log_memory(c->bytes, -1);
  k->bytes = 0;
  if (c->budget) shunt_budget_keep(c->budget, c->bytes);
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

static double aged(double us, uint64_t since, uint64_t now)
{
  return us > 0 ? us * exp2(-(double)(now - since) / HALF_LIFE) : 0;
}

/* Of a copy that may go: what a byte of it has saved of late. */
static double worth_a_byte(const struct shunt_cache *c, const struct shunt_cache_packed *k)
{
  return aged(k->worth, k->worth_at, c->clock) / (double)k->bytes;
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
  e->missed = aged(e->missed, e->missed_at, c->clock) + saves_us * calls;
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

/* A copy makes way for one that is worth half as much again: so two never take turns. */
static bool make_room(struct shunt_cache *c, size_t bytes, double worth_a_byte_of_it)
{
  const double enough = worth_a_byte_of_it / 1.5;
  const struct allowance most = allowance(c, bytes);
  if ((int64_t)bytes > most.budget) return false;
  const int64_t rest = most.mine - (int64_t)bytes;
  struct batch unused;
  /* None goes where all that may would not be enough. */
  if (c->bytes > rest && c->bytes - least_worth(c, enough, &unused) <= rest)
    give_way(c, rest, enough);
  if (c->bytes > rest) {
    if (c->budget && most.mine < most.budget) shunt_budget_want(c->budget, (int64_t)bytes);
    return false;
  }
  if (!c->budget || shunt_budget_take(c->budget, c->bytes + (int64_t)bytes, most.budget))
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
  k->built = k->by_study = false;
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
  e->missed = 0;
  e->missed_call = 0;
  c->bytes += (int64_t)bytes;
  shunt_log_memory(c->bytes, -1);
  c->packed_in_use++;
  return SHUNT_OK;
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
  const size_t bytes = HEADER_BYTES + r->payload_bytes;
  shunt_status s = SHUNT_E_MEMORY;
  if (!e) return s;
  enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  pthread_mutex_lock(&c->lock);
  struct shunt_cache_packed **place = e->identity == l->identity ? empty_place(e, r->by) : NULL;
  if (place) {
    shunt_cache_packed_tidy(c);
    const double worth = missed_by(c, e, r->saves_us) / (double)bytes;
    struct shunt_cache_packed *k = make_room(c, bytes, worth) ? c->first[FREE] : NULL;
    if (k) s = open_slot(c, k, e, r, stream);
    if (c->budget && s != SHUNT_OK) shunt_budget_keep(c->budget, c->bytes);
    if (s == SHUNT_OK) {
      k->by_study = r->by && l->study;
      *place = *out = k;
    } else {
      e->pack_from = e->calls + ASK_AGAIN;
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

/* ---- uses ------------------------------------------------------------------------------------ */

/* The graph that is being captured on `stream` holds k until it is destroyed. */
static void let_go(void *packed)
{
  atomic_fetch_sub(&((struct shunt_cache_packed *)packed)->holds, 1);
}

static shunt_status hold_by_graph(struct shunt_cache_packed *k, cudaStream_t stream)
{
  enum cudaStreamCaptureStatus status;
  cudaGraph_t graph;
  cudaUserObject_t object;
  atomic_fetch_add(&k->holds, 1); /* given back by let_go; never, if what follows fails */
  shunt_status s =
      SHUNT_CUDA(cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaUserObjectCreate(&object, k, let_go, 1, cudaUserObjectNoDestructorSync));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  return s;
}

/* An event that stands for uses which have ended, or that the reaper waits for by now: free for
   another stream's.  Ids of streams never repeat, so a program may show any number of them.  */
static int take_over(struct shunt_cache *c, struct shunt_cache_packed *k)
{
  const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  int ended = k->uses;
  while (ended > 0 && cudaEventQuery(k->use[ended - 1].event) != cudaSuccess) ended--;
  shunt_leave_relaxed(mode);
  if (ended > 0) return ended - 1;
  const int i = k->oldest_use++ % MOST_USES;
  return SHUNT_CUDA(cudaStreamWaitEvent(c->reaper, k->use[i].event, 0)) == SHUNT_OK ? i : -1;
}

/* The event of the last use on a stream; with `using` held. */
static cudaEvent_t use_event(struct shunt_cache *c, struct shunt_cache_packed *k,
                             unsigned long long id)
{
  for (int i = 0; i < k->uses; i++)
    if (k->use[i].stream == id) return k->use[i].event;
  int i = k->uses;
  if (i == MOST_USES) {
    i = take_over(c, k);
    if (i < 0) return NULL;
  } else {
    k->use[i].event = NULL;
    if (SHUNT_CUDA(cudaEventCreateWithFlags(&k->use[i].event, cudaEventDisableTiming)) != SHUNT_OK)
      return NULL;
    k->uses++;
  }
  k->use[i].stream = id;
  return k->use[i].event;
}

static shunt_status record_use(struct shunt_cache *c, struct shunt_cache_packed *k,
                               cudaStream_t stream)
{
  unsigned long long id;
  shunt_status s = SHUNT_CUDA(cudaStreamGetId(stream, &id));
  if (s == SHUNT_OK) {
    pthread_mutex_lock(&c->using);
    cudaEvent_t event = use_event(c, k, id);
    s = event ? SHUNT_CUDA(cudaEventRecord(event, stream)) : SHUNT_E_CUDA;
    pthread_mutex_unlock(&c->using);
  }
  if (s != SHUNT_OK) atomic_fetch_add(&k->holds, 1); /* can't be followed: it stays */
  return s;
}

/* An event behind all uses so far; without it the copy is never trusted. */
static void await_proofs(struct shunt_cache *c, struct shunt_cache_packed *k)
{
  enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  pthread_mutex_lock(&c->using);
  shunt_status s = SHUNT_CUDA(cudaEventCreateWithFlags(&k->proved, cudaEventDisableTiming));
  if (s != SHUNT_OK) k->proved = NULL;
  for (int i = 0; s == SHUNT_OK && i < k->uses; i++)
    s = SHUNT_CUDA(cudaStreamWaitEvent(c->reaper, k->use[i].event, 0));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(k->proved, c->reaper));
  if (s == SHUNT_OK) atomic_store(&k->awaited, true);
  pthread_mutex_unlock(&c->using);
  shunt_leave_relaxed(mode);
}

shunt_status shunt_cache_packed_used(struct shunt_cache *c, struct shunt_cache_packed *k,
                                     const struct shunt_packed_use *use, cudaStream_t stream)
{
  atomic_store(&k->idle, 0);
  atomic_fetch_add(&k->used, 1);
  pthread_mutex_lock(&c->lock);
  k->worth = aged(k->worth, k->worth_at, c->clock) + (use->saved_us > 0 ? use->saved_us : 0);
  k->worth_at = c->clock;
  pthread_mutex_unlock(&c->lock);
  if (use->capturing) return hold_by_graph(k, stream);
  const shunt_status s = record_use(c, k, stream);
  if (s == SHUNT_OK && shunt_frozen_assumed() && shunt_trust_used(&k->trust, !use->unproved))
    await_proofs(c, k);
  return s;
}

shunt_status shunt_cache_packed_touched(struct shunt_cache *c, struct shunt_cache_packed *k,
                                        bool capturing, cudaStream_t stream)
{
  return capturing ? hold_by_graph(k, stream) : record_use(c, k, stream);
}

bool shunt_cache_packed_trusted(struct shunt_cache_packed *k)
{
  if (!shunt_frozen_assumed()) return false;
  if (!atomic_load(&k->trust.passed) && atomic_load(&k->awaited)) {
    enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
    const bool done = cudaEventQuery(k->proved) == cudaSuccess;
    shunt_leave_relaxed(mode);
    if (done && !k->word->changed) shunt_trust_pass(&k->trust);
  }
  return shunt_trust_spares_proof(&k->trust);
}

shunt_status shunt_cache_packed_built(struct shunt_cache *c, struct shunt_cache_packed *k,
                                      cudaStream_t stream)
{
  /* measures, then irregular | stamp -> pinned word; the stamp arrives with the content. */
  shunt_status s = SHUNT_CUDA(cudaMemsetAsync(k->memory + 4, 1, 4, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync((void *)k->word->measures, k->memory + MEASURES_AT,
                                   SHUNT_PACKED_MEASURES, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync((void *)k->word, k->memory, 8, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK) k->built = true;
  record_use(c, k, stream);
  return s;
}

void shunt_cache_packed_release(struct shunt_cache *c, struct shunt_cache_packed *k, bool discard)
{
  if (discard) {
    pthread_mutex_lock(&c->lock);
    if (k->state == LIVE) shunt_cache_packed_retire(k);
    pthread_mutex_unlock(&c->lock);
  }
  atomic_fetch_sub(&k->holds, 1);
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

void shunt_cache_relieve(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  atomic_store(&c->relief_due, false);
  pthread_mutex_lock(&c->lock);
  shunt_cache_packed_tidy(c);
  const int64_t most = c->bytes > 0 ? allowance(c, 0).mine : 0;
  give_way(c, most, INFINITY);
  if (c->budget && most == 0) SHUNT_CUDA(cudaMemPoolTrimTo(c->pool, 0)); /* what has come back */
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
  const int64_t given = before - c->bytes;
  pthread_mutex_unlock(&c->lock);
  if (given > 0) {
    await_reaper(c);
    SHUNT_CUDA(cudaMemPoolTrimTo(c->pool, 0));
  }
  shunt_leave_relaxed(mode);
  return (size_t)given;
}
