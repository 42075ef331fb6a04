/* cache.c: what is known of the matrices that a context has seen: one entry each, found by a hash
   of the key.

     bucket[hash] -> entry -> entry -> NULL        entries stand in pages that never move
     newest <-> entry <-> entry <-> oldest         by the last call  */
#include "backend/plan/cache.h"

#include <stdlib.h>
#include <string.h>

#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/log.h"
#include "backend/plan/memory/device_memory.h"
#include "conv/profile/profile.h"
#include "kernels/guard/guard.h"

/* After so many calls it is looked again whether the pattern is another by now. */
enum { PROFILE_EVERY = 4096 };

shunt_status shunt_cache_make(struct shunt_cache **out, cudaMemPool_t pool, int64_t most_bytes,
                              int64_t ample_bytes)
{
  struct shunt_cache *c = SHUNT_TRY_OR(NULL, calloc(1, sizeof *c));
  if (!c) return SHUNT_E_MEMORY;
  pthread_mutex_init(&c->lock, NULL);
  pthread_mutex_init(&c->using, NULL);
  c->pool = pool;
  c->most_bytes = most_bytes;
  c->ample_bytes = ample_bytes;
  c->buckets = FIRST_BUCKETS;
  c->bucket = SHUNT_TRY_OR(NULL, calloc(c->buckets, sizeof(struct shunt_cache_entry *)));
  c->arrays = SHUNT_TRY_OR(NULL, calloc(c->buckets, sizeof(struct shunt_cache_array *)));
  shunt_status s = c->bucket && c->arrays ? SHUNT_OK : SHUNT_E_MEMORY;
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaHostAlloc((void **)&c->arriving, PROFILE_SLOTS * sizeof *c->arriving,
                                 cudaHostAllocPortable));
  if (s == SHUNT_OK) memset(c->arriving, 0, PROFILE_SLOTS * sizeof *c->arriving);
  if (s == SHUNT_OK) s = shunt_cache_words_add(c);
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamCreateWithFlags(&c->reaper, cudaStreamNonBlocking));
  /* Not of the pool, whose first allocation takes milliseconds (backend/cublas/lazy_init.h). */
  if (s == SHUNT_OK)
    s = shunt_device_allocate_now((void **)&c->scratch,
                                  (size_t)PROFILE_SLOTS * SHUNT_PROFILE_SCRATCH);
  if (s != SHUNT_OK) {
    shunt_cache_free(c);
    return s;
  }
  cache_density_make(c);
  *out = c;
  return SHUNT_OK;
}

void shunt_cache_free(struct shunt_cache *c)
{
  if (!c) return;
  cache_density_free(c);
  if (c->scratch) shunt_device_free_now(c->scratch);
  if (c->reaper) cudaStreamDestroy(c->reaper);
  shunt_cache_words_free(c);
  if (c->arriving) cudaFreeHost(c->arriving);
  for (int i = 0; i < c->pages; i++) free(c->page[i]);
  free(c->bucket);
  free(c->arrays);
  pthread_mutex_destroy(&c->lock);
  pthread_mutex_destroy(&c->using);
  free(c);
}

/* ---- entries ------------------------------------------------------------------- */

static uint64_t hash_of(const struct shunt_key *k)
{
  uint64_t h = (uint64_t)(uintptr_t)k->columns * 0x9e3779b97f4a7c15u;
  h ^= (uint64_t)(uintptr_t)k->values * 0xc2b2ae3d27d4eb4fu;
  h ^= (uint64_t)(uintptr_t)k->row_offsets * 0x27d4eb2f165667c5u;
  h ^= (uint64_t)k->rows * 0x165667b19e3779f9u + (uint64_t)k->nnz;
  return (h ^ (h >> 29)) * 0x9e3779b97f4a7c15u >> 32;
}

static struct shunt_cache_entry **bucket_of(struct shunt_cache *c, const struct shunt_key *k)
{
  return &c->bucket[hash_of(k) % c->buckets];
}

static bool same_key(const struct shunt_key *a, const struct shunt_key *b)
{
  return a->row_offsets == b->row_offsets && a->columns == b->columns && a->values == b->values &&
         a->row_indices == b->row_indices && a->rows == b->rows && a->cols == b->cols &&
         a->nnz == b->nnz && a->index_type == b->index_type && a->value_type == b->value_type &&
         a->base == b->base;
}

static void unlink_age(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  *(e->newer ? &e->newer->older : &c->newest) = e->older;
  *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  e->newer = NULL;
  e->older = c->newest;
  *(c->newest ? &c->newest->newer : &c->oldest) = e;
  c->newest = e;
}

static void retire_copies(struct shunt_cache_entry *e)
{
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (e->packed[i]) shunt_cache_packed_retire(e->packed[i]);
}

/* The entry is free for another matrix. */
static void forget(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  struct shunt_cache_entry **at = bucket_of(c, &e->key);
  retire_copies(e);
  if (e->study) shunt_cache_packed_retire(e->study);
  shunt_cache_profile_orphan(c, e);
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  unlink_age(c, e);
  shunt_cache_arrays_drop(e);
  *e = (struct shunt_cache_entry){.next = c->free, .profile_slot = -1};
  c->free = e;
  c->entries--;
}

static void add_page(struct shunt_cache *c)
{
  struct shunt_cache_entry *page = NULL;
  if (c->pages < MOST_ENTRIES / ENTRY_PAGE)
    page = SHUNT_TRY_OR(NULL, calloc(ENTRY_PAGE, sizeof *page));
  if (!page) return;
  c->page[c->pages++] = page;
  for (int i = 0; i < ENTRY_PAGE; i++) {
    page[i].profile_slot = -1;
    page[i].next = c->free;
    c->free = &page[i];
  }
}

/* Buckets enough for the entries; where there is no memory, chains are longer. */
static void widen(struct shunt_cache *c)
{
  const unsigned wanted = c->buckets * 4;
  if (c->entries < c->buckets) return;
  struct shunt_cache_entry **wider = SHUNT_TRY_OR(NULL, calloc(wanted, sizeof *wider));
  struct shunt_cache_array **arrays = SHUNT_TRY_OR(NULL, calloc(wanted, sizeof *arrays));
  if (!wider || !arrays) {
    free(wider);
    free(arrays);
    return;
  }
  free(c->bucket);
  free(c->arrays);
  c->bucket = wider;
  c->arrays = arrays;
  c->buckets = wanted;
  for (struct shunt_cache_entry *e = c->newest; e; e = e->older) {
    struct shunt_cache_entry **at = bucket_of(c, &e->key);
    e->next = *at;
    *at = e;
    shunt_cache_arrays_add(c, e);
  }
}

/* NULL: there is no memory for a single one. */
static struct shunt_cache_entry *find_entry(struct shunt_cache *c, const struct shunt_key *key)
{
  for (struct shunt_cache_entry *e = *bucket_of(c, key); e; e = e->next)
    if (same_key(&e->key, key)) {
      unlink_age(c, e);
      link_newest(c, e);
      return e;
    }
  if (!c->free) add_page(c);
  if (!c->free && c->oldest) forget(c, c->oldest);
  struct shunt_cache_entry *e = c->free;
  if (!e) return NULL;
  widen(c);
  struct shunt_cache_entry **at = bucket_of(c, key);
  c->free = e->next;
  *e = (struct shunt_cache_entry){
      .key = *key, .identity = ++c->identities, .next = *at, .profile_slot = -1};
  *at = e;
  link_newest(c, e);
  shunt_cache_arrays_add(c, e);
  c->entries++;
  return e;
}

/* ---- what the device has said -------------------------------------------------------- */

/* Calls to wait after so many failures in a row: 16, 32, .. 65,536. */
static uint32_t pause_after(uint32_t failures)
{
  return (uint32_t)8 << (failures < 13 ? failures : 13);
}

/* Copies do not stand for this matrix, or products from them have to be repaired: its columns
   repeat, or its values or B's hold a NaN or Inf.  A step of a training may have diverged; so it is
   tried again, each time later.  */
static void refuse_copies(struct shunt_cache_entry *e)
{
  e->no_copies = true;
  e->refusals++;
  e->pack_from = e->calls + pause_after(e->refusals);
  retire_copies(e);
}

/* Values or pattern changed under a copy: where it had not been used for long, the next is made
   after twice as many calls.  It may be another matrix at the same addresses, too.  */
static void forget_changed(struct shunt_cache_entry *e, const struct shunt_cache_packed *k)
{
  enum { PAID = 64 };
  e->changes = atomic_load(&k->used) >= PAID ? 0 : e->changes + 1;
  e->pack_from = e->calls + pause_after(e->changes) / 2;
  cache_forget_refusals(e);
  e->known_at = 0;
  if (e->study) shunt_cache_packed_retire(e->study);
  retire_copies(e);
  e->has_profile = e->has_study = false;
}

/* What the device says of one copy holds for all: the others have the same content. */
static void read_word_of(struct shunt_cache_entry *e, const struct shunt_cache_packed *k)
{
  enum { SOUND = 64 };
  if (!k->word->stamp) return;
  if ((k->word->irregular && !k->by_study) || k->word->nonfinite)
    refuse_copies(e);
  else if (k->word->changed || k->word->irregular) {
    if (k->word->changed == SHUNT_GUARD_CHANGED)
      shunt_trust_fail(&k->trust, e->key.rows, e->key.cols, e->key.nnz);
    forget_changed(e, k);
  } else if (atomic_load(&k->used) >= SOUND)
    e->refusals = 0;
}

/* Reads what has arrived from the device since the last call; true if a profile was among it. */
static bool read_arrivals(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  const bool profiled = shunt_cache_profile_read(c, e);
  cache_study_read(e);
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (e->packed[i]) read_word_of(e, e->packed[i]);
  if (e->no_copies && e->calls >= e->pack_from) e->no_copies = false;
  return profiled;
}

/* ---- looking up --------------------------------------------------------------------------- */

static void hold(struct shunt_cache_packed *k)
{
  atomic_fetch_add(&k->holds, 1);
  atomic_fetch_add(&k->idle, 1);
}

/* Carries what is ready, and what the stream of this id makes, unless that is NULL. */
static void carry_copies(struct shunt_cache_entry *e, const unsigned long long *stream,
                         struct shunt_lookup *out)
{
  out->awaits_copy = out->first_copy = false;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++) {
    struct shunt_cache_packed *k = e->packed[i];
    if (!k || k == out->packed[i].copy) continue;
    if (cache_is_ready(k) || (stream && atomic_load(&k->built) && k->made_on == *stream)) {
      out->packed[i].copy = k;
      out->packed[i].by = k->by;
      hold(k);
    } else {
      out->awaits_copy = true;
      out->first_copy = out->first_copy || k->made_at == e->known_at;
    }
  }
}

/* Whether packing, or a study, is wise is known once it is known what is carried. */
static void mark_wise(struct shunt_cache *c, struct shunt_cache_entry *e, struct shunt_lookup *out)
{
  const bool wise = !e->no_copies && e->calls >= 2 && !out->awaits_copy && cache_asks_again(c, e);
  out->pack_wise = wise && cache_place(e);
  out->study_wise = wise && !e->study;
}

static void fill(struct shunt_cache *c, struct shunt_cache_entry *e, struct shunt_lookup *out)
{
  struct shunt_cache_packed *study = cache_is_ready(e->study) ? e->study : NULL;
  *out = (struct shunt_lookup){
      .entry = e,
      .identity = e->identity,
      .calls = e->calls,
      .no_copies = e->no_copies,
      .profile_wanted =
          e->profile_slot < 0 && (!e->has_profile || e->calls - e->profiled_at > PROFILE_EVERY),
      .has_profile = e->has_profile,
      .known_now = e->has_profile && e->known_at == e->calls,
      .profile = e->profile,
      .study = study,
      .has_study = e->has_study,
  };
  memcpy(out->studied, e->studied, sizeof out->studied);
  carry_copies(e, NULL, out);
  mark_wise(c, e, out);
  if (study) hold(study);
}

/* One more call of any matrix. */
static void tick(struct shunt_cache *c)
{
  const bool again = c->relief_again > 0 && c->clock >= c->relief_again;
  if (++c->clock % RELIEVE_EVERY == 0 || again) atomic_store(&c->relief_due, true);
}

void shunt_cache_look_up(struct shunt_cache *c, const struct shunt_key *key,
                         struct shunt_lookup *out)
{
  bool profiled = false;
  pthread_mutex_lock(&c->lock);
  struct shunt_cache_entry *e = find_entry(c, key);
  tick(c);
  if (e) {
    e->calls += e->calls < UINT32_MAX / 2;
    profiled = read_arrivals(c, e);
    fill(c, e, out);
  } else {
    *out = (struct shunt_lookup){.calls = 1};
  }
  pthread_mutex_unlock(&c->lock);
  if (profiled && out->has_profile) shunt_log_profile(&out->profile);
}

void shunt_cache_look_up_behind(struct shunt_cache *c, cudaStream_t stream, struct shunt_lookup *l)
{
  struct shunt_cache_entry *e = l->entry;
  unsigned long long id;
  if (!l->awaits_copy || SHUNT_CUDA(cudaStreamGetId(stream, &id)) != SHUNT_OK) return;
  pthread_mutex_lock(&c->lock);
  if (e->identity == l->identity) {
    carry_copies(e, &id, l);
    mark_wise(c, e, l);
  }
  pthread_mutex_unlock(&c->lock);
}

void shunt_cache_look_up_settled(struct shunt_cache *c, const struct shunt_key *key, uint64_t epoch,
                                 struct shunt_lookup *out)
{
  *out = (struct shunt_lookup){.calls = 1};
  pthread_mutex_lock(&c->lock);
  tick(c);
  for (const struct shunt_cache_entry *e = *bucket_of(c, key); epoch && e; e = e->next)
    if (same_key(&e->key, key) && e->settled_epoch == epoch) {
      out->has_profile = true;
      out->profile = e->settled;
    }
  pthread_mutex_unlock(&c->lock);
}

/* ---- forgetting ---------------------------------------------------------------------------- */

void shunt_cache_forget(struct shunt_cache *c)
{
  const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  pthread_mutex_lock(&c->lock);
  while (c->newest) forget(c, c->newest);
  shunt_cache_packed_tidy(c);
  pthread_mutex_unlock(&c->lock);
  shunt_leave_relaxed(mode);
}

void shunt_cache_forget_range(struct shunt_cache *c, const void *base, size_t bytes)
{
  uintptr_t from = (uintptr_t)base;
  const uintptr_t end = from + bytes;
  if (end <= from) return;
  pthread_mutex_lock(&c->lock);
  struct shunt_cache_entry *e = shunt_cache_arrays_find(c, &from, end);
  if (e || c->first[RETIRED]) { /* or what could not be given back before */
    const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
    for (; e; e = shunt_cache_arrays_find(c, &from, end)) forget(c, e);
    shunt_cache_packed_tidy(c);
    shunt_leave_relaxed(mode);
  }
  pthread_mutex_unlock(&c->lock);
}
