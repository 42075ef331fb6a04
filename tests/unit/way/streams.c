/* streams.c: streams, events and graphs.

     stream   work -> work -> record(event, ticket) -> wait(event, ticket) -> ..
     graph    the same, without tickets, as it was captured

   An event has passed when the last record's ticket has; tickets only grow, so an event that was
   destroyed can be made anew while work still names it.  Streams that were destroyed go on.  */
#define _GNU_SOURCE /* recursive mutexes */
#include "tests/unit/way/streams.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/way/device.h"

/* ---- the lock ----------------------------------------------------------------------------- */

static pthread_mutex_t one_at_a_time = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
hold_t device_lock(void)
{
  return pthread_mutex_lock(&one_at_a_time);
}
void device_unlock(hold_t hold)
{
  (void)hold;
  pthread_mutex_unlock(&one_at_a_time);
}

/* ---- the parts ---------------------------------------------------------------------------- */

struct CUevent_st {
  uint64_t recorded, passed;
  struct CUevent_st *next; /* free ones */
};
struct item {
  device_work run; /* NULL: an event's */
  struct CUevent_st *event;
  uint64_t ticket;
  size_t bytes;
  bool waits;
  struct item *next;
  _Alignas(16) char arguments[];
};
struct list {
  struct item *first, **end;
};
struct CUgraph_st {
  struct list work;
  int refs;
  struct {
    cudaHostFn_t release;
    void *what;
  } held[64];
  int held_count;
};
struct CUuserObject_st {
  cudaHostFn_t release;
  void *what;
  struct CUuserObject_st *next; /* all that no graph has */
};
struct CUgraphExec_st {
  struct CUgraph_st *graph;
};
struct CUstream_st {
  unsigned long long id;
  struct list work;
  struct CUgraph_st *captures;
  bool broken, gone, by_default;
  enum cudaStreamCaptureMode mode;
  struct CUstream_st *next;
};
static struct CUstream_st null_stream = {.id = 1, .by_default = true};
static struct CUstream_st *all = &null_stream;
static struct CUevent_st *free_events;
static struct CUuserObject_st *objects;
static unsigned long long ids = 1;
static uint64_t tickets;
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

static struct CUstream_st *stream_of(cudaStream_t s)
{
  return s ? s : &null_stream;
}
static struct item *append(struct list *l, size_t bytes)
{
  struct item *x = calloc(1, sizeof *x + bytes);
  if (!x) abort();
  x->bytes = bytes;
  if (!l->first) l->end = &l->first;
  *l->end = x;
  l->end = &x->next;
  return x;
}
static struct list *list_for(struct CUstream_st *s)
{
  return s->captures ? &s->captures->work : &s->work;
}

/* ---- going on ------------------------------------------------------------------------------ */

static bool step(struct CUstream_st *s)
{
  struct item *x = s->work.first;
  if (!x || (x->waits && x->event->passed < x->ticket)) return false;
  s->work.first = x->next;
  if (x->run)
    x->run(x->arguments);
  else if (!x->waits && x->event->passed < x->ticket)
    x->event->passed = x->ticket;
  free(x);
  return true;
}

/* Streams that are gone and have done their work are forgotten. */
static void sweep(void)
{
  for (struct CUstream_st **at = &all; *at;) {
    struct CUstream_st *s = *at;
    if (s->gone && !s->work.first) {
      *at = s->next;
      free(s);
    } else {
      at = &s->next;
    }
  }
}

void device_run(void)
{
  const hold_t hold = device_lock();
  for (bool any = true; any;) {
    any = false;
    for (struct CUstream_st *s = all; s; s = s->next)
      while (step(s)) any = true;
  }
  sweep();
  device_unlock(hold);
}

static void go_on(const struct CUstream_st *s)
{
  if (!device.late && !s->captures) device_run();
}

void device_enqueue(cudaStream_t stream, device_work run, const void *arguments, size_t bytes)
{
  const hold_t hold = device_lock();
  struct CUstream_st *s = stream_of(stream);
  struct item *x = append(list_for(s), bytes);
  x->run = run;
  memcpy(x->arguments, arguments, bytes);
  go_on(s);
  device_unlock(hold);
}

bool device_disturbs(void)
{
  const hold_t hold = device_lock();
  bool bad = false;
  if (thread_mode != cudaStreamCaptureModeRelaxed)
    for (struct CUstream_st *s = all; s; s = s->next)
      if (s->captures && s->mode == cudaStreamCaptureModeGlobal) s->broken = bad = true;
  device.disturbed += bad;
  device_unlock(hold);
  return bad;
}
#define UNSAFE()                                                                                   \
  if (device_disturbs()) return cudaErrorStreamCaptureUnsupported

/* ---- streams -------------------------------------------------------------------------------- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
  (void)flags;
  UNSAFE();
  const hold_t hold = device_lock();
  struct CUstream_st *s = calloc(1, sizeof *s);
  if (s) {
    s->id = ++ids;
    s->next = all->next;
    all->next = s;
    device.streams++;
  }
  *out = s;
  device_unlock(hold);
  return s ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
  const hold_t hold = device_lock();
  s->gone = true;
  device.streams--;
  sweep();
  device_unlock(hold);
  return cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *id)
{
  return *id = stream_of(s)->id, cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s)
{
  UNSAFE();
  return stream_of(s)->work.first ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
  UNSAFE();
  const hold_t hold = device_lock();
  device.waited++;
  device_run();
  device_waited_for(s);
  device_unlock(hold);
  return cudaSuccess;
}

/* ---- copies --------------------------------------------------------------------------------- */

struct copy {
  void *to;
  const void *from;
  size_t bytes;
  int value;
};
static void copy(const void *arguments)
{
  const struct copy *c = arguments;
  if (c->from)
    memcpy(c->to, c->from, c->bytes);
  else
    memset(c->to, c->value, c->bytes);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t s)
{
  (void)kind;
  device_enqueue(s, copy, &(struct copy){to, from, bytes, 0}, sizeof(struct copy));
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s)
{
  device_enqueue(s, copy, &(struct copy){to, NULL, bytes, value}, sizeof(struct copy));
  return cudaSuccess;
}

/* ---- events --------------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
  (void)flags;
  const hold_t hold = device_lock();
  struct CUevent_st *e = free_events;
  if (e)
    free_events = e->next;
  else
    e = calloc(1, sizeof *e);
  if (e) *e = (struct CUevent_st){0}, device.events++;
  *out = e;
  device_unlock(hold);
  return e ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaEventCreate(cudaEvent_t *out)
{
  return cudaEventCreateWithFlags(out, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
  const hold_t hold = device_lock();
  e->next = free_events;
  free_events = e;
  device.events--;
  device_unlock(hold);
  return cudaSuccess;
}
static void mark(cudaEvent_t e, cudaStream_t stream, bool waits)
{
  const hold_t hold = device_lock();
  struct CUstream_st *s = stream_of(stream);
  struct item *x = append(list_for(s), 0);
  if (!waits && !s->captures) e->recorded = ++tickets;
  x->event = e;
  x->ticket = s->captures ? 0 : e->recorded;
  x->waits = waits;
  go_on(s);
  device_unlock(hold);
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
  return mark(e, s, false), cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
  return (void)flags, mark(e, s, true), cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
  UNSAFE();
  return e->passed >= e->recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
  (void)e;
  UNSAFE();
  device.waited++;
  device_run();
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
  return *ms = 0.001f * (float)(to->recorded - from->recorded), cudaSuccess;
}

/* ---- capture and graphs --------------------------------------------------------------------- */

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
  const enum cudaStreamCaptureMode before = thread_mode;
  thread_mode = *mode;
  return *mode = before, cudaSuccess;
}
static enum cudaStreamCaptureStatus status_of(const struct CUstream_st *s)
{
  return !s->captures ? cudaStreamCaptureStatusNone
         : s->broken  ? cudaStreamCaptureStatusInvalidated
                      : cudaStreamCaptureStatusActive;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status)
{
  return *status = status_of(stream_of(s)), cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode)
{
  if (!s || s->captures) return cudaErrorStreamCaptureUnsupported;
  s->captures = calloc(1, sizeof *s->captures);
  if (!s->captures) return cudaErrorMemoryAllocation;
  s->captures->refs = 1;
  s->mode = mode;
  s->broken = false;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
  const struct CUstream_st *s = stream_of(stream);
  *status = status_of(s);
  if (id) *id = s->id;
  if (graph) *graph = s->captures;
  if (nodes) *nodes = NULL;
  if (edges) *edges = NULL;
  if (count) *count = 0; /* nothing is known of nodes: nothing is overlapped */
  return cudaSuccess;
}
static void put_down(struct CUgraph_st *g)
{
  if (--g->refs > 0) return;
  for (int i = 0; i < g->held_count; i++) g->held[i].release(g->held[i].what);
  for (struct item *x = g->work.first, *next; x; x = next) next = x->next, free(x);
  free(g);
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out)
{
  const bool broken = s->broken;
  *out = s->captures;
  s->captures = NULL;
  s->broken = false;
  if (broken && *out) put_down(*out), *out = NULL;
  return broken ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
  (void)flags;
  *out = calloc(1, sizeof **out);
  if (!*out) return cudaErrorMemoryAllocation;
  (*out)->graph = g;
  g->refs++;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
  const hold_t hold = device_lock();
  struct CUstream_st *s = stream_of(stream);
  for (const struct item *x = exec->graph->work.first; x; x = x->next) {
    if (!x->run) continue; /* in one stream events order nothing */
    struct item *mine = append(&s->work, x->bytes);
    mine->run = x->run;
    memcpy(mine->arguments, x->arguments, x->bytes);
  }
  go_on(s);
  device_unlock(hold);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
  return put_down(g), cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
  put_down(exec->graph);
  free(exec);
  return cudaSuccess;
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *what, cudaHostFn_t release,
                                 unsigned n, unsigned flags)
{
  (void)n, (void)flags;
  *out = calloc(1, sizeof **out);
  if (!*out) return cudaErrorMemoryAllocation;
  **out = (struct CUuserObject_st){release, what, objects};
  objects = *out;
  return cudaSuccess;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t g, cudaUserObject_t o, unsigned n, unsigned flags)
{
  (void)n, (void)flags;
  const bool room = g->held_count < (int)(sizeof g->held / sizeof *g->held);
  if (room) {
    g->held[g->held_count].release = o->release;
    g->held[g->held_count++].what = o->what;
  }
  for (struct CUuserObject_st **at = &objects; *at; at = &(*at)->next)
    if (*at == o) {
      *at = o->next;
      break;
    }
  free(o);
  return room ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
  return (void)node, (void)type, cudaErrorNotSupported;
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *from,
                                         cudaGraphEdgeData *edges, size_t *count)
{
  return (void)node, (void)from, (void)edges, (void)count, cudaErrorNotSupported;
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t s, cudaGraphNode_t *nodes,
                                                const cudaGraphEdgeData *edges, size_t count,
                                                unsigned flags)
{
  return (void)s, (void)nodes, (void)edges, (void)count, (void)flags, cudaErrorNotSupported;
}

/* ---- profiles that come late ---------------------------------------------------------------- */

static struct {
  void (*write)(void *);
  void *what;
} profiles[256];
static int profile_count;

void device_hold_profile(void (*write)(void *), void *what)
{
  const hold_t hold = device_lock();
  if (profile_count < (int)(sizeof profiles / sizeof *profiles)) {
    profiles[profile_count].write = write;
    profiles[profile_count++].what = what;
  }
  device_unlock(hold);
}
void device_profiles(void)
{
  const hold_t hold = device_lock();
  for (int i = 0; i < profile_count; i++) profiles[i].write(profiles[i].what);
  profile_count = 0;
  device_unlock(hold);
}
