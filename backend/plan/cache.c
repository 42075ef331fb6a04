/* cache.c: what is known of the matrices that a context has seen; packed.c has the memory. */
#include "backend/plan/cache.h"

#include <stdlib.h>
#include <string.h>

#include "backend/plan/cache_entry.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/log.h"
#include "conv/profile/profile.h"

enum { PROFILE_EVERY = 4096 };

shunt_status shunt_cache_make(struct shunt_cache **out, int64_t most_bytes)
{
  struct shunt_cache *c = SHUNT_TRY_OR(NULL, calloc(1, sizeof *c));
  if (!c) return SHUNT_E_MEMORY;
  pthread_mutex_init(&c->lock, NULL);
  c->most_bytes = most_bytes;
  shunt_status s =
      SHUNT_CUDA(cudaHostAlloc((void **)&c->pinned, sizeof *c->pinned, cudaHostAllocPortable));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMalloc((void **)&c->scratch, (size_t)ENTRIES * SHUNT_PROFILE_SCRATCH));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamCreateWithFlags(&c->reaper, cudaStreamNonBlocking));
  if (s != SHUNT_OK) {
    shunt_cache_free(c);
    return s;
  }
  memset(c->pinned, 0, sizeof *c->pinned);
  for (int i = 0; i < MOST_KEPT; i++) c->kept[i].word = &c->pinned->word[i];
  *out = c;
  return SHUNT_OK;
}

void shunt_cache_free(struct shunt_cache *c)
{
  if (!c) return;
  if (c->reaper) cudaStreamDestroy(c->reaper);
  if (c->scratch) cudaFree(c->scratch);
  if (c->pinned) cudaFreeHost(c->pinned);
  pthread_mutex_destroy(&c->lock);
  free(c);
}

/* ---- entries ------------------------------------------------------------------- */

static unsigned set_of(const struct shunt_key *k)
{
  uint64_t h = (uint64_t)(uintptr_t)k->columns * 0x9e3779b97f4a7c15u;
  h ^= (uint64_t)(uintptr_t)k->values * 0xc2b2ae3d27d4eb4fu;
  h ^= (uint64_t)k->rows * 0x165667b19e3779f9u + (uint64_t)k->nnz;
  return (unsigned)((h ^ (h >> 29)) >> 7) % SETS;
}

static bool same_key(const struct shunt_key *a, const struct shunt_key *b)
{
  return a->row_offsets == b->row_offsets && a->columns == b->columns && a->values == b->values &&
         a->row_indices == b->row_indices && a->rows == b->rows && a->cols == b->cols &&
         a->nnz == b->nnz && a->index_type == b->index_type && a->value_type == b->value_type &&
         a->base == b->base;
}

static void retire_plans(struct entry *e)
{
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (e->plan[i]) shunt_cache_packed_retire(e->plan[i]);
}

static void forget(struct entry *e)
{
  retire_plans(e);
  if (e->study) shunt_cache_packed_retire(e->study);
  *e = (struct entry){0};
}

static struct entry *find_entry(struct shunt_cache *c, const struct shunt_key *key)
{
  struct entry *set = &c->entry[set_of(key) * WAYS], *oldest = set;
  for (int i = 0; i < WAYS; i++) {
    if (set[i].identity && same_key(&set[i].key, key)) return &set[i];
    if (set[i].last < oldest->last) oldest = &set[i];
  }
  forget(oldest);
  oldest->key = *key;
  oldest->identity = ++c->clock;
  return oldest;
}

static bool is_ready(const struct shunt_cache_packed *k)
{
  return k && k->built && k->word->stamp;
}

/* What was known of the matrix may be of another by now. */
static void forget_hints(struct entry *e)
{
  e->has_profile = e->has_study = false;
  if (e->study) shunt_cache_packed_retire(e->study);
}

/* What the device has said of one of its plans concerns all: the others are of the same content. */
static void listen_to_plan(struct entry *e, const struct shunt_cache_packed *k)
{
  if (!k->word->stamp) return;
  if ((k->word->irregular && !k->by_study) || k->word->nonfinite) {
    /* Repeated columns; or products that are nonfinite in their first row, call after
       call a repair: copies of this matrix do not pay.  */
    e->no_copies = true;
    retire_plans(e);
  } else if (k->word->changed || k->word->irregular) {
    /* Values or pattern changed under the plan: keeping was a poor bet, so the
       next try waits for twice as many calls; and it may be another matrix at the same
       addresses, so that the profile is looked for anew.  */
    e->strikes += e->strikes < 12;
    e->keep_from = e->sights + (4u << e->strikes);
    forget_hints(e);
    retire_plans(e);
  }
}

/* Reads what the device has said since the last look; true if a profile was among it. */
static bool listen(struct shunt_cache *c, struct entry *e)
{
  struct shunt_profile *arrived = &c->pinned->profile[e - c->entry];
  const bool profiled =
      e->profile_pending && *(volatile uint64_t *)&arrived->serial == e->identity + e->profiled_at;
  if (profiled) {
    atomic_thread_fence(memory_order_acquire);
    e->profile = *arrived;
    e->has_profile = true;
    e->profile_pending = false;
  }
  struct shunt_cache_packed *k = e->study;
  if (is_ready(k)) {
    memcpy(e->studied, (const void *)k->word->measures, sizeof e->studied);
    e->has_study = true;
  }
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (e->plan[i]) listen_to_plan(e, e->plan[i]);
  return profiled;
}

static void hold(struct shunt_cache_packed *k, uint64_t now)
{
  atomic_fetch_add(&k->holds, 1);
  if (atomic_fetch_add(&k->idle, 1) < IDLE_CALLS) k->last = now;
}

/* Carries what is ready; false where a plan is still being made. */
static bool carry_plans(struct entry *e, struct shunt_lookup *out)
{
  bool all = true;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++) {
    struct shunt_cache_packed *k = e->plan[i];
    if (k && is_ready(k)) {
      out->plan[i].kept = k;
      out->plan[i].by = k->by;
      hold(k, e->last);
    }
    all = all && (!k || is_ready(k));
  }
  return all;
}

void shunt_cache_look_up(struct shunt_cache *c, const struct shunt_key *key,
                         struct shunt_lookup *out)
{
  pthread_mutex_lock(&c->lock);
  struct entry *e = find_entry(c, key);
  e->last = ++c->clock;
  e->sights += e->sights < UINT32_MAX / 2;
  const bool profiled = listen(c, e);
  struct shunt_cache_packed *study = is_ready(e->study) ? e->study : NULL;
  const bool wise = !e->no_copies && e->sights >= 2 && e->sights >= e->keep_from;
  *out = (struct shunt_lookup){
      .index = (int)(e - c->entry),
      .identity = e->identity,
      .sights = e->sights,
      .no_copies = e->no_copies,
      .profile_wanted =
          !e->profile_pending && (!e->has_profile || e->sights - e->profiled_at > PROFILE_EVERY),
      .has_profile = e->has_profile,
      .profile = e->profile,
      .study = study,
      .has_study = e->has_study,
  };
  memcpy(out->studied, e->studied, sizeof out->studied);
  const bool all_ready = carry_plans(e, out);
  out->keep_wise = wise && all_ready && cache_place(e);
  out->study_wise = wise && all_ready && !e->study;
  if (study) hold(study, e->last);
  pthread_mutex_unlock(&c->lock);
  if (profiled && out->has_profile) shunt_log_profile(&out->profile);
}

shunt_status shunt_cache_profile(struct shunt_cache *c, const struct shunt_lookup *s,
                                 const struct shunt_csr *a, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  struct entry *e = &c->entry[s->index];
  pthread_mutex_lock(&c->lock);
  bool mine = e->identity == s->identity && !e->profile_pending;
  if (mine) {
    e->profile_pending = true;
    e->profiled_at = s->sights;
  }
  pthread_mutex_unlock(&c->lock);
  if (!mine) return SHUNT_OK;
  shunt_status r = SHUNT_LAUNCH(
      shunt_profile_csr_cuda(a, s->identity + s->sights, &c->pinned->profile[s->index],
                             c->scratch + (size_t)s->index * SHUNT_PROFILE_SCRATCH, d, stream));
  if (r != SHUNT_OK) {
    pthread_mutex_lock(&c->lock);
    if (e->identity == s->identity) e->profile_pending = false;
    pthread_mutex_unlock(&c->lock);
  }
  return r;
}

void shunt_cache_forget(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = cache_enter_relaxed();
  pthread_mutex_lock(&c->lock);
  for (int i = 0; i < ENTRIES; i++) forget(&c->entry[i]);
  shunt_cache_packed_tidy(c);
  pthread_mutex_unlock(&c->lock);
  cache_leave_relaxed(mode);
}
