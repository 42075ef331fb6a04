#include "backend/plan/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/plan/cuda_call.h"

/* Entries live in sets of a few ways, so that a look-up reads one or two cache
   lines' worth of keys and eviction is local.  */
enum { SETS = 64, WAYS = 4, ENTRIES = SETS * WAYS, MOST_KEPT = 64, MOST_USES = 8 };
enum { HEADER_BYTES = 256, FINGERPRINT_AT = 16, MEASURES_AT = 32, PROFILE_EVERY = 4096 };

/* What the device tells the host about kept memory; pinned, polled, never waited for. */
struct word {
  uint32_t irregular, stamp;       /* copied from the memory's header */
  uint32_t changed, nonfinite;     /* written by repairs */
  char measures[SHUNT_KEPT_MEASURES]; /* copied from the header, before the stamp */
};

enum state { FREE, LIVE, RETIRED, REAPED };

struct shunt_kept {
  enum state state;
  struct entry *owner;
  const void *by;
  uint32_t note;
  char *memory;
  size_t bytes;
  atomic_int holds; /* calls that are enqueueing a use, and graphs that captured one */
  bool built;
  bool by_study; /* made as a study of A said, which may have changed since */
  uint64_t last;
  struct {
    unsigned long long stream;
    cudaEvent_t event;
  } use[MOST_USES];
  int uses;
  cudaEvent_t reaped; /* the memory is given back once this has passed */
  volatile struct word *word;
};

struct entry {
  struct shunt_key key;
  uint64_t identity; /* 0: unused */
  uint64_t last;
  uint32_t sights, keep_from, strikes, profiled_at;
  bool no_copies, has_profile, profile_pending;
  struct shunt_profile profile;
  bool has_study;
  char studied[SHUNT_KEPT_MEASURES];
  struct shunt_kept *kept, *study;
};

struct shunt_cache {
  pthread_mutex_t lock;
  uint64_t clock;
  struct entry entry[ENTRIES];
  struct shunt_kept kept[MOST_KEPT];
  int64_t bytes, most_bytes;
  cudaStream_t reaper; /* waits for last uses, then frees */
  struct pinned {
    struct shunt_profile profile[ENTRIES];
    struct word word[MOST_KEPT];
  } *pinned;
  char *scratch; /* device: SHUNT_PROFILE_SCRATCH per entry */
};

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

static void retire(struct shunt_kept *k)
{
  struct entry *e = k->owner;
  k->state = RETIRED;
  if (e && e->kept == k) e->kept = NULL;
  if (e && e->study == k) e->study = NULL;
  k->owner = NULL;
}

static void forget(struct entry *e)
{
  if (e->kept) retire(e->kept);
  if (e->study) retire(e->study);
  *e = (struct entry){ 0 };
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

static bool is_ready(const struct shunt_kept *k)
{
  return k && k->built && k->word->stamp;
}

/* What was known of the matrix may be of another by now. */
static void forget_hints(struct entry *e)
{
  e->has_profile = e->has_study = false;
  if (e->study) retire(e->study);
}

/* Reads what the device has said since the last look. */
static void listen(struct shunt_cache *c, struct entry *e)
{
  struct shunt_profile *arrived = &c->pinned->profile[e - c->entry];
  if (e->profile_pending && *(volatile uint64_t *)&arrived->serial == e->identity + e->profiled_at) {
    atomic_thread_fence(memory_order_acquire);
    e->profile = *arrived;
    e->has_profile = true;
    e->profile_pending = false;
  }
  struct shunt_kept *k = e->study;
  if (is_ready(k)) {
    memcpy(e->studied, (const void *)k->word->measures, sizeof e->studied);
    e->has_study = true;
  }
  k = e->kept;
  if (!k || !k->word->stamp) return;
  if ((k->word->irregular && !k->by_study) || k->word->nonfinite) {
    /* Repeated columns; or products that are nonfinite in their first row, call after
       call a repair: copies of this matrix do not pay.  */
    e->no_copies = true;
    retire(k);
  } else if (k->word->changed || k->word->irregular) {
    /* Values or pattern changed under the plan: keeping was a poor bet, so the
       next try waits for twice as many calls; and it may be another matrix at the same
       addresses, so that the profile is looked for anew.  */
    e->strikes += e->strikes < 12;
    e->keep_from = e->sights + (4u << e->strikes);
    forget_hints(e);
    retire(k);
  }
}

static void hold(struct shunt_kept *k, uint64_t now)
{
  if (!k) return;
  atomic_fetch_add(&k->holds, 1);
  k->last = now;
}

void shunt_cache_see(struct shunt_cache *c, const struct shunt_key *key, struct shunt_sight *out)
{
  pthread_mutex_lock(&c->lock);
  struct entry *e = find_entry(c, key);
  e->last = ++c->clock;
  e->sights += e->sights < UINT32_MAX / 2;
  listen(c, e);
  struct shunt_kept *k = e->kept, *study = is_ready(e->study) ? e->study : NULL;
  const bool ready = is_ready(k);
  const bool wise = !e->no_copies && e->sights >= 2 && e->sights >= e->keep_from;
  *out = (struct shunt_sight){
    .index = (int)(e - c->entry),
    .identity = e->identity,
    .sights = e->sights,
    .keep_wise = wise && (!k || ready),
    .study_wise = wise && !e->study && (!k || ready),
    .no_copies = e->no_copies,
    .profile_wanted = !e->profile_pending &&
                      (!e->has_profile || e->sights - e->profiled_at > PROFILE_EVERY),
    .has_profile = e->has_profile,
    .profile = e->profile,
    .kept = ready ? k : NULL,
    .kept_by = ready ? k->by : NULL,
    .study = study,
    .has_study = e->has_study,
  };
  memcpy(out->studied, e->studied, sizeof out->studied);
  hold(out->kept, e->last);
  hold(study, e->last);
  pthread_mutex_unlock(&c->lock);
}

shunt_status shunt_cache_profile(struct shunt_cache *c, const struct shunt_sight *s,
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
  shunt_status r = SHUNT_LAUNCH(shunt_profile_csr_cuda(
      a, s->identity + s->sights, &c->pinned->profile[s->index],
      c->scratch + (size_t)s->index * SHUNT_PROFILE_SCRATCH, d, stream));
  if (r != SHUNT_OK) {
    pthread_mutex_lock(&c->lock);
    if (e->identity == s->identity) e->profile_pending = false;
    pthread_mutex_unlock(&c->lock);
  }
  return r;
}

/* ---- kept memory ------------------------------------------------------------------ */

/* Work of ours that is not part of the caller's stream must neither disturb nor be
   refused by a capture that another thread has under way.  */
static enum cudaStreamCaptureMode enter_relaxed(void)
{
  enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  return mode;
}

static void leave_relaxed(enum cudaStreamCaptureMode mode)
{
  cudaThreadExchangeStreamCaptureMode(&mode);
}

static void drop_events(struct shunt_kept *k)
{
  for (int i = 0; i < k->uses; i++)
    if (k->use[i].event) cudaEventDestroy(k->use[i].event);
  k->uses = 0;
}

/* Gives a retired plan's memory back after its last use, without waiting. */
static void reap(struct shunt_cache *c, struct shunt_kept *k)
{
  for (int i = 0; i < k->uses; i++)
    if (SHUNT_CUDA(cudaStreamWaitEvent(c->reaper, k->use[i].event, 0)) != SHUNT_OK) return;
  if (k->memory && SHUNT_CUDA(cudaFreeAsync(k->memory, c->reaper)) != SHUNT_OK) return;
  k->memory = NULL;
  c->bytes -= (int64_t)k->bytes;
  k->bytes = 0;
  if (SHUNT_CUDA(cudaEventRecord(k->reaped, c->reaper)) == SHUNT_OK) k->state = REAPED;
}

static void tidy(struct shunt_cache *c)
{
  for (int i = 0; i < MOST_KEPT; i++) {
    struct shunt_kept *k = &c->kept[i];
    if (k->state == RETIRED && atomic_load(&k->holds) == 0) reap(c, k);
    if (k->state == REAPED && cudaEventQuery(k->reaped) == cudaSuccess) {
      drop_events(k);
      cudaEventDestroy(k->reaped);
      k->reaped = NULL;
      k->state = FREE;
    }
  }
}

static bool evict_oldest(struct shunt_cache *c)
{
  struct shunt_kept *oldest = NULL;
  for (int i = 0; i < MOST_KEPT; i++) {
    struct shunt_kept *k = &c->kept[i];
    if (k->state == LIVE && atomic_load(&k->holds) == 0 && (!oldest || k->last < oldest->last))
      oldest = k;
  }
  if (!oldest) return false;
  retire(oldest);
  tidy(c);
  return true;
}

/* A twentieth of the device's memory is left to the program. */
static bool memory_is_short(size_t need)
{
  size_t available, total;
  return SHUNT_CUDA(cudaMemGetInfo(&available, &total)) != SHUNT_OK ||
         available < need + total / 20;
}

static bool make_room(struct shunt_cache *c, size_t bytes)
{
  if ((int64_t)bytes > c->most_bytes) return false;
  while (c->bytes + (int64_t)bytes > c->most_bytes)
    if (!evict_oldest(c)) return false;
  return !memory_is_short(bytes);
}

static struct shunt_kept *free_slot(struct shunt_cache *c)
{
  for (int i = 0; i < MOST_KEPT; i++)
    if (c->kept[i].state == FREE) return &c->kept[i];
  return NULL;
}

static shunt_status open_slot(struct shunt_cache *c, struct shunt_kept *k, struct entry *e,
                              cudaMemPool_t pool, size_t bytes, cudaStream_t stream)
{
  shunt_status s = SHUNT_CUDA(cudaEventCreateWithFlags(&k->reaped, cudaEventDisableTiming));
  if (s != SHUNT_OK) return s;
  s = SHUNT_CUDA(cudaMallocFromPoolAsync((void **)&k->memory, bytes, pool, stream));
  if (s != SHUNT_OK) {
    cudaEventDestroy(k->reaped);
    k->reaped = NULL;
    k->memory = NULL;
    return s;
  }
  memset((void *)k->word, 0, sizeof *k->word);
  k->state = LIVE;
  k->owner = e;
  k->bytes = bytes;
  k->built = false;
  k->by_study = false;
  k->note = 0;
  k->uses = 0;
  k->last = ++c->clock;
  atomic_store(&k->holds, 1);
  c->bytes += (int64_t)bytes;
  return SHUNT_OK;
}

/* Kept memory for the entry's pointer at `place`; by: whose format it is, NULL for a study. */
static shunt_status make(struct shunt_cache *c, const struct shunt_sight *s,
                         struct shunt_kept **place, const void *by, cudaMemPool_t pool,
                         size_t payload_bytes, cudaStream_t stream, struct shunt_kept **out)
{
  struct entry *e = &c->entry[s->index];
  size_t bytes = HEADER_BYTES + payload_bytes;
  shunt_status r = SHUNT_E_MEMORY;
  enum cudaStreamCaptureMode mode = enter_relaxed();
  pthread_mutex_lock(&c->lock);
  if (e->identity == s->identity && !*place) {
    tidy(c);
    struct shunt_kept *k = make_room(c, bytes) ? free_slot(c) : NULL;
    if (k) r = open_slot(c, k, e, pool, bytes, stream);
    if (r == SHUNT_OK) {
      k->by = by;
      k->by_study = by && s->study;
      *place = *out = k;
    } else {
      e->keep_from = e->sights + 64; /* no room now: ask again later */
    }
  }
  pthread_mutex_unlock(&c->lock);
  leave_relaxed(mode);
  return r;
}

shunt_status shunt_kept_make(struct shunt_cache *c, const struct shunt_sight *s, const void *by,
                             cudaMemPool_t pool, size_t payload_bytes, cudaStream_t stream,
                             struct shunt_kept **out)
{
  return make(c, s, &c->entry[s->index].kept, by, pool, payload_bytes, stream, out);
}

shunt_status shunt_study_make(struct shunt_cache *c, const struct shunt_sight *s,
                              cudaMemPool_t pool, size_t payload_bytes, cudaStream_t stream,
                              struct shunt_kept **out)
{
  return make(c, s, &c->entry[s->index].study, NULL, pool, payload_bytes, stream, out);
}

struct shunt_kept_view shunt_kept_view_of(struct shunt_kept *k)
{
  return (struct shunt_kept_view){
    .irregular = (uint32_t *)k->memory,
    .fingerprint = (struct shunt_fingerprint *)(k->memory + FINGERPRINT_AT),
    .measures = k->memory + MEASURES_AT,
    .known = k->word->stamp ? (const void *)k->word->measures : NULL,
    .note = &k->note,
    .payload = k->memory + HEADER_BYTES,
    .payload_bytes = k->bytes - HEADER_BYTES,
    .changed = (uint32_t *)&k->word->changed,
    .nonfinite = (uint32_t *)&k->word->nonfinite,
  };
}

/* The graph that is being captured on `stream` holds k until it is destroyed. */
static void let_go(void *kept)
{
  atomic_fetch_sub(&((struct shunt_kept *)kept)->holds, 1);
}

static shunt_status hold_by_graph(struct shunt_kept *k, cudaStream_t stream)
{
  enum cudaStreamCaptureStatus status;
  cudaGraph_t graph;
  cudaUserObject_t object;
  atomic_fetch_add(&k->holds, 1); /* given back by let_go; never, if what follows fails */
  shunt_status s = SHUNT_CUDA(
      cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaUserObjectCreate(&object, k, let_go, 1, cudaUserObjectNoDestructorSync));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  return s;
}

/* Only calls on one stream meet here at a time per slot of the stream's id; the
   list itself is extended under the plan's hold.  */
static cudaEvent_t use_event(struct shunt_kept *k, unsigned long long id)
{
  static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;
  cudaEvent_t event = NULL;
  pthread_mutex_lock(&adding);
  for (int i = 0; i < k->uses && !event; i++)
    if (k->use[i].stream == id) event = k->use[i].event;
  if (!event && k->uses < MOST_USES &&
      SHUNT_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)) == SHUNT_OK) {
    k->use[k->uses].stream = id;
    k->use[k->uses].event = event;
    k->uses++;
  }
  pthread_mutex_unlock(&adding);
  return event;
}

shunt_status shunt_kept_used(struct shunt_kept *k, cudaStream_t stream, bool capturing)
{
  if (capturing) return hold_by_graph(k, stream);
  unsigned long long id;
  cudaEvent_t event = NULL;
  if (SHUNT_CUDA(cudaStreamGetId(stream, &id)) == SHUNT_OK) event = use_event(k, id);
  if (event && SHUNT_CUDA(cudaEventRecord(event, stream)) == SHUNT_OK) return SHUNT_OK;
  atomic_fetch_add(&k->holds, 1); /* can't be followed: it stays as long as the process */
  return SHUNT_E_CUDA;
}

shunt_status shunt_kept_built(struct shunt_kept *k, cudaStream_t stream)
{
  /* measures, then irregular | stamp -> pinned word; the stamp arrives with the content. */
  shunt_status s = SHUNT_CUDA(cudaMemsetAsync(k->memory + 4, 1, 4, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync((void *)k->word->measures, k->memory + MEASURES_AT,
                                   SHUNT_KEPT_MEASURES, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(
        cudaMemcpyAsync((void *)k->word, k->memory, 8, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK) k->built = true;
  shunt_kept_used(k, stream, false);
  return s;
}

void shunt_kept_release(struct shunt_cache *c, struct shunt_kept *k, bool discard)
{
  if (discard) {
    pthread_mutex_lock(&c->lock);
    if (k->state == LIVE) retire(k);
    pthread_mutex_unlock(&c->lock);
  }
  atomic_fetch_sub(&k->holds, 1);
}

void shunt_cache_forget(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = enter_relaxed();
  pthread_mutex_lock(&c->lock);
  for (int i = 0; i < ENTRIES; i++) forget(&c->entry[i]);
  tidy(c);
  pthread_mutex_unlock(&c->lock);
  leave_relaxed(mode);
}

void shunt_cache_relieve(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = enter_relaxed();
  pthread_mutex_lock(&c->lock);
  tidy(c);
  if (c->bytes > 0 && memory_is_short(0)) evict_oldest(c);
  pthread_mutex_unlock(&c->lock);
  leave_relaxed(mode);
}
