/* packed.c: device memory that outlives calls: its room, its uses, and how it is given back. */
#include <string.h>

#include "backend/plan/cache_entry.h"
#include "backend/plan/cuda_call.h"

enum { HEADER_BYTES = 256, FINGERPRINTS_AT = 16, MEASURES_AT = 48 };

void shunt_cache_packed_retire(struct shunt_cache_packed *k)
{
  struct entry *e = k->owner;
  k->state = RETIRED;
  for (int i = 0; e && i < SHUNT_MOST_PACKED; i++)
    if (e->plan[i] == k) e->plan[i] = NULL;
  if (e && e->study == k) e->study = NULL;
  k->owner = NULL;
}

static void drop_events(struct shunt_cache_packed *k)
{
  for (int i = 0; i < k->uses; i++)
    if (k->use[i].event) cudaEventDestroy(k->use[i].event);
  k->uses = 0;
}

/* Gives a retired plan's memory back after its last use, without waiting. */
static void reap(struct shunt_cache *c, struct shunt_cache_packed *k)
{
  for (int i = 0; i < k->uses; i++)
    if (SHUNT_CUDA(cudaStreamWaitEvent(c->reaper, k->use[i].event, 0)) != SHUNT_OK) return;
  if (k->memory && SHUNT_CUDA(cudaFreeAsync(k->memory, c->reaper)) != SHUNT_OK) return;
  k->memory = NULL;
  c->bytes -= (int64_t)k->bytes;
  k->bytes = 0;
  if (SHUNT_CUDA(cudaEventRecord(k->reaped, c->reaper)) == SHUNT_OK) k->state = REAPED;
}

void shunt_cache_packed_tidy(struct shunt_cache *c)
{
  for (int i = 0; i < MOST_KEPT; i++) {
    struct shunt_cache_packed *k = &c->kept[i];
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
  struct shunt_cache_packed *oldest = NULL;
  for (int i = 0; i < MOST_KEPT; i++) {
    struct shunt_cache_packed *k = &c->kept[i];
    if (k->state == LIVE && atomic_load(&k->holds) == 0 && (!oldest || k->last < oldest->last))
      oldest = k;
  }
  if (!oldest) return false;
  shunt_cache_packed_retire(oldest);
  shunt_cache_packed_tidy(c);
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

static struct shunt_cache_packed *free_slot(struct shunt_cache *c)
{
  for (int i = 0; i < MOST_KEPT; i++)
    if (c->kept[i].state == FREE) return &c->kept[i];
  return NULL;
}

static shunt_status open_slot(struct shunt_cache *c, struct shunt_cache_packed *k, struct entry *e,
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
  atomic_store(&k->idle, 0);
  k->note = 0;
  k->pattern_epoch = 0;
  k->uses = 0;
  k->last = ++c->clock;
  atomic_store(&k->holds, 1);
  c->bytes += (int64_t)bytes;
  return SHUNT_OK;
}

/* An empty place of the entry for a study, or for a plan by `by`. */
static struct shunt_cache_packed **empty_place(struct entry *e, const void *by)
{
  if (!by) return e->study ? NULL : &e->study;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (e->plan[i] && e->plan[i]->by == by) return NULL;
  struct shunt_cache_packed **place = cache_place(e);
  if (place && *place) shunt_cache_packed_retire(*place);
  return place;
}

/* Kept memory for an entry; by: whose format it is, NULL for a study. */
static shunt_status make(struct shunt_cache *c, const struct shunt_lookup *s, const void *by,
                         cudaMemPool_t pool, size_t payload_bytes, cudaStream_t stream,
                         struct shunt_cache_packed **out)
{
  struct entry *e = &c->entry[s->index];
  size_t bytes = HEADER_BYTES + payload_bytes;
  shunt_status r = SHUNT_E_MEMORY;
  enum cudaStreamCaptureMode mode = cache_enter_relaxed();
  pthread_mutex_lock(&c->lock);
  struct shunt_cache_packed **place = e->identity == s->identity ? empty_place(e, by) : NULL;
  if (place) {
    shunt_cache_packed_tidy(c);
    struct shunt_cache_packed *k = make_room(c, bytes) ? free_slot(c) : NULL;
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
  cache_leave_relaxed(mode);
  return r;
}

shunt_status shunt_cache_packed_make(struct shunt_cache *c, const struct shunt_lookup *s,
                                     const void *by, cudaMemPool_t pool, size_t payload_bytes,
                                     cudaStream_t stream, struct shunt_cache_packed **out)
{
  return make(c, s, by, pool, payload_bytes, stream, out);
}

shunt_status shunt_cache_study_make(struct shunt_cache *c, const struct shunt_lookup *s,
                                    cudaMemPool_t pool, size_t payload_bytes, cudaStream_t stream,
                                    struct shunt_cache_packed **out)
{
  return make(c, s, NULL, pool, payload_bytes, stream, out);
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

/* The graph that is being captured on `stream` holds k until it is destroyed. */
static void let_go(void *kept)
{
  atomic_fetch_sub(&((struct shunt_cache_packed *)kept)->holds, 1);
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

/* Only calls on one stream meet here at a time per slot of the stream's id; the
   list itself is extended under the plan's hold.  */
static cudaEvent_t use_event(struct shunt_cache_packed *k, unsigned long long id)
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

shunt_status shunt_cache_packed_used(struct shunt_cache_packed *k, cudaStream_t stream,
                                     bool capturing)
{
  atomic_store(&k->idle, 0);
  if (capturing) return hold_by_graph(k, stream);
  unsigned long long id;
  cudaEvent_t event = NULL;
  if (SHUNT_CUDA(cudaStreamGetId(stream, &id)) == SHUNT_OK) event = use_event(k, id);
  if (event && SHUNT_CUDA(cudaEventRecord(event, stream)) == SHUNT_OK) return SHUNT_OK;
  atomic_fetch_add(&k->holds, 1); /* can't be followed: it stays as long as the process */
  return SHUNT_E_CUDA;
}

shunt_status shunt_cache_packed_built(struct shunt_cache_packed *k, cudaStream_t stream)
{
  /* measures, then irregular | stamp -> pinned word; the stamp arrives with the content. */
  shunt_status s = SHUNT_CUDA(cudaMemsetAsync(k->memory + 4, 1, 4, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync((void *)k->word->measures, k->memory + MEASURES_AT,
                                   SHUNT_PACKED_MEASURES, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync((void *)k->word, k->memory, 8, cudaMemcpyDeviceToHost, stream));
  if (s == SHUNT_OK) k->built = true;
  shunt_cache_packed_used(k, stream, false);
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

void shunt_cache_relieve(struct shunt_cache *c)
{
  enum cudaStreamCaptureMode mode = cache_enter_relaxed();
  pthread_mutex_lock(&c->lock);
  shunt_cache_packed_tidy(c);
  if (c->bytes > 0 && memory_is_short(0)) evict_oldest(c);
  pthread_mutex_unlock(&c->lock);
  cache_leave_relaxed(mode);
}
