/* packed_uses.c: who uses a packed copy: streams, by an event behind each one's last use, and
   graphs that were captured.  So it is known when its memory may be given back, and whether it is
   trusted.  */
#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"

/* A use that cannot be followed keeps its copy for good, so a call that fails is made once more. */
#define TWICE(call) (SHUNT_CUDA(call) == SHUNT_OK ? SHUNT_OK : SHUNT_CUDA(call))

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
  shunt_status s = TWICE(cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL));
  if (s == SHUNT_OK)
    s = TWICE(cudaUserObjectCreate(&object, k, let_go, 1, cudaUserObjectNoDestructorSync));
  if (s == SHUNT_OK)
    s = TWICE(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
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
  return TWICE(cudaStreamWaitEvent(c->reaper, k->use[i].event, 0)) == SHUNT_OK ? i : -1;
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
    if (TWICE(cudaEventCreateWithFlags(&k->use[i].event, cudaEventDisableTiming)) != SHUNT_OK)
      return NULL;
    k->uses++;
  }
  k->use[i].stream = id;
  return k->use[i].event;
}

bool cache_is_behind(struct shunt_cache *c, struct shunt_cache_packed *k, cudaStream_t stream)
{
  unsigned long long id;
  if (SHUNT_CUDA(cudaStreamGetId(stream, &id)) != SHUNT_OK) return false;
  pthread_mutex_lock(&c->using);
  bool behind = k->uses < MOST_USES; /* else an event may stand for others, too */
  for (int i = 0; behind && i < k->uses; i++)
    behind = k->use[i].stream == id || cudaEventQuery(k->use[i].event) == cudaSuccess;
  pthread_mutex_unlock(&c->using);
  return behind;
}

static shunt_status record_use(struct shunt_cache *c, struct shunt_cache_packed *k,
                               cudaStream_t stream)
{
  unsigned long long id;
  shunt_status s = TWICE(cudaStreamGetId(stream, &id));
  if (s == SHUNT_OK) {
    pthread_mutex_lock(&c->using);
    cudaEvent_t event = use_event(c, k, id);
    s = event ? TWICE(cudaEventRecord(event, stream)) : SHUNT_E_CUDA;
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
  k->worth = cache_aged(k->worth, k->worth_at, c->clock) + (use->saved_us > 0 ? use->saved_us : 0);
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
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamGetId(stream, &k->made_on));
  if (s == SHUNT_OK) atomic_store(&k->built, true);
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
