/* packed.c: device memory that outlives calls: how it is had, and how it is given back. */
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
  if (e && e->study == k) {
    cache_study_read(e);
    e->study = NULL;
  }
  k->owner = NULL;
}

static void drop_events(struct shunt_cache_packed *k)
{
  for (int i = 0; i < k->uses; i++)
    if (k->use[i].event) cudaEventDestroy(k->use[i].event);
  k->uses = k->oldest_use = 0;
}

void cache_reap(struct shunt_cache *c, struct shunt_cache_packed *k)
{
  for (int i = 0; i < k->uses; i++)
    if (SHUNT_CUDA(cudaStreamWaitEvent(c->reaper, k->use[i].event, 0)) != SHUNT_OK) return;
  if (k->memory && shunt_device_free(k->memory, c->reaper) != SHUNT_OK) return;
  k->memory = NULL;
  if (k->bytes > 0) c->outgrown_lasts = false;
  c->bytes -= (int64_t)k->bytes;
  c->untrimmed += (int64_t)k->bytes;
  shunt_log_memory(c->bytes, -1);
  k->bytes = 0;
  cache_announce(c);
  if (SHUNT_CUDA(cudaEventRecord(k->reaped, c->reaper)) == SHUNT_OK) move_to(k, REAPED);
}

void shunt_cache_packed_tidy(struct shunt_cache *c)
{
  for (struct shunt_cache_packed *k = c->first[RETIRED], *behind; k; k = behind) {
    behind = k->behind;
    if (atomic_load(&k->holds) == 0) cache_reap(c, k);
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

/* ---- making ------------------------------------------------------------------------------ */

/* An empty copy of the entry, in memory that it has. */
static void begin(struct shunt_cache *c, struct shunt_cache_packed *k, struct shunt_cache_entry *e,
                  const void *by)
{
  memset((void *)k->word, 0, sizeof *k->word);
  move_to(k, LIVE);
  k->owner = e;
  k->by = by;
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
  if (by) cache_forget_refusals(e);
  c->packed_in_use++;
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
  k->bytes = bytes;
  begin(c, k, e, r->by);
  c->bytes += (int64_t)bytes;
  shunt_log_memory(c->bytes, -1);
  return SHUNT_OK;
}

/* In the memory of one that is worth less, whose uses `stream` is behind: the pool has nothing to
   do.  NULL: there is none.  */
static struct shunt_cache_packed *succeed(struct shunt_cache *c, struct shunt_cache_packed *before,
                                          struct shunt_cache_entry *e, const void *by,
                                          cudaStream_t stream)
{
  struct shunt_cache_packed *k = c->first[FREE];
  if (!before || !k || !cache_is_behind(c, before, stream)) return NULL;
  if (SHUNT_CUDA(cudaEventCreateWithFlags(&k->reaped, cudaEventDisableTiming)) != SHUNT_OK)
    return NULL;
  k->memory = before->memory;
  k->bytes = before->bytes;
  before->memory = NULL;
  before->bytes = 0;
  shunt_cache_packed_retire(before);
  cache_reap(c, before);
  begin(c, k, e, by);
  return k;
}

/* Undoes a copy that made the pool take more than it may.  False: it stays. */
static bool take_back(struct shunt_cache *c, struct shunt_cache_packed *k, cudaStream_t stream)
{
  struct shunt_cache_entry *e = k->owner;
  if (shunt_cache_packed_touched(c, k, false, stream) != SHUNT_OK) return false;
  if (k->by) {
    e->missed = k->worth;
    e->missed_at = c->clock;
    e->missed_call = e->calls;
  }
  const int64_t bytes = (int64_t)k->bytes;
  atomic_store(&k->holds, 0);
  shunt_cache_packed_retire(k);
  cache_reap(c, k);
  cache_outgrew(c, bytes);
  atomic_store(&c->relief_due, true);
  return true;
}

/* Is the pool, which had `before`, within what it may have? */
static bool pool_fits(struct shunt_cache *c, int64_t before, struct cache_allowance most)
{
  const int64_t reserved = cache_reserved(c);
  if (reserved <= before || reserved <= CACHE_PIECE) return true;
  return !cache_is_spread(c, most.mine) &&
         (!c->budget || shunt_budget_take(c->budget, cache_counted(c), most.budget));
}

/* A copy of the entry in a slot and in memory of the device; NULL: there is no room. */
static struct shunt_cache_packed *place_copy(struct shunt_cache *c, struct shunt_cache_entry *e,
                                             const struct shunt_packed_request *r,
                                             cudaStream_t stream)
{
  const struct cache_wish wish = cache_wish_for(c, e, r);
  if (!cache_may_hope(c, &wish)) return NULL;
  const struct cache_allowance most = cache_allowance(c, wish.with);
  struct shunt_cache_packed *k = succeed(c, cache_predecessor(c, &wish, most), e, r->by, stream);
  if (k) return k;
  k = cache_make_room(c, &wish, most) ? c->first[FREE] : NULL;
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
    } else
      cache_refuse(e, r);
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
  const bool all_of_it = c->budget && most == 0;
  while (cache_is_spread(c, most) || (all_of_it && c->untrimmed > 0)) {
    const int64_t before = c->bytes;
    if (c->untrimmed > 0 && !cache_trim(c)) c->relief_again = c->clock + RELIEVE_LATE;
    if (c->relief_again || !cache_is_spread(c, most)) break;
    cache_give_way(c, c->bytes / 2, INFINITY);
    if (c->bytes == before) break;
  }
  cache_announce(c);
}

void shunt_cache_relieve(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  atomic_store(&c->relief_due, false);
  pthread_mutex_lock(&c->lock);
  c->relief_again = 0;
  shunt_cache_packed_tidy(c);
  const int64_t most = c->bytes > 0 ? cache_allowance(c, 0).mine : 0;
  cache_give_way(c, most, INFINITY);
  shrink(c, most);
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
