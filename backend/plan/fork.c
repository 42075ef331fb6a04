#include "backend/plan/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/plan/cuda_call.h"

/* Streams beyond these run their side work in sequence. */
enum { MOST_SIDES = 32 };

/* A side stream serves one stream of the program, told by CUDA's never-repeated
   stream id, and one call at a time.  */
struct shunt_side {
  _Atomic(unsigned long long) owner; /* stream id + 1; 0: free */
  atomic_flag busy;
  cudaStream_t stream;
  cudaEvent_t begun, done;
};

struct shunt_forks {
  struct shunt_side side[MOST_SIDES];
};

shunt_status shunt_forks_make(struct shunt_forks **out)
{
  struct shunt_forks *f = SHUNT_TRY_OR(NULL, calloc(1, sizeof *f));
  if (!f) return SHUNT_E_MEMORY;
  for (int i = 0; i < MOST_SIDES; i++) atomic_flag_clear(&f->side[i].busy);
  *out = f;
  return SHUNT_OK;
}

static void close_side(struct shunt_side *s)
{
  if (s->begun) cudaEventDestroy(s->begun);
  if (s->done) cudaEventDestroy(s->done);
  if (s->stream) cudaStreamDestroy(s->stream);
  s->begun = s->done = NULL;
  s->stream = NULL;
}

void shunt_forks_free(struct shunt_forks *f)
{
  if (!f) return;
  for (int i = 0; i < MOST_SIDES; i++) close_side(&f->side[i]);
  free(f);
}

static shunt_status open_side(struct shunt_side *s)
{
  shunt_status r = SHUNT_CUDA(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
  if (r == SHUNT_OK) r = SHUNT_CUDA(cudaEventCreateWithFlags(&s->begun, cudaEventDisableTiming));
  if (r == SHUNT_OK) r = SHUNT_CUDA(cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
  if (r != SHUNT_OK) close_side(s);
  return r;
}

/* The side stream of `main`, taken for this call; NULL when there is none. */
static struct shunt_side *take_side(struct shunt_forks *pool, cudaStream_t main)
{
  unsigned long long id;
  if (SHUNT_CUDA(cudaStreamGetId(main, &id)) != SHUNT_OK) return NULL;
  id++;
  for (int i = 0; i < MOST_SIDES; i++) {
    struct shunt_side *s = &pool->side[i];
    unsigned long long owner = atomic_load(&s->owner);
    if (owner == 0 && atomic_compare_exchange_strong(&s->owner, &owner, id)) owner = id;
    if (owner != id) continue;
    if (atomic_flag_test_and_set(&s->busy)) return NULL; /* another thread, same stream */
    if (s->stream || open_side(s) == SHUNT_OK) return s;
    atomic_flag_clear(&s->busy);
    return NULL;
  }
  return NULL;
}

/* The nodes that the next captured work would depend on. */
static bool read_dependencies(cudaStream_t stream, cudaGraphNode_t *nodes, size_t *count)
{
  enum cudaStreamCaptureStatus status;
  const cudaGraphNode_t *list;
  const cudaGraphEdgeData *edges;
  if (SHUNT_CUDA(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &list, &edges, count)) !=
          SHUNT_OK ||
      status != cudaStreamCaptureStatusActive || *count > SHUNT_FORK_MOST_DEPENDENCIES)
    return false;
  static const cudaGraphEdgeData plain;
  for (size_t i = 0; edges && i < *count; i++)
    if (memcmp(&edges[i], &plain, sizeof plain) != 0) return false;
  memcpy(nodes, list, *count * sizeof *nodes);
  return true;
}

static void give_back(struct shunt_fork *f)
{
  atomic_flag_clear(&f->own->busy);
  f->own = NULL;
}

void shunt_fork_begin(struct shunt_fork *f, struct shunt_forks *pool, cudaStream_t main,
                      bool capturing)
{
  f->main = f->side = main;
  f->captured = capturing && read_dependencies(main, f->before, &f->before_count);
  f->own = capturing ? NULL : take_side(pool, main);
  if (f->own && SHUNT_CUDA(cudaEventRecord(f->own->begun, main)) != SHUNT_OK) give_back(f);
}

void shunt_fork_side(struct shunt_fork *f)
{
  if (f->own) {
    if (SHUNT_CUDA(cudaStreamWaitEvent(f->own->stream, f->own->begun, 0)) == SHUNT_OK)
      f->side = f->own->stream;
    else
      give_back(f);
    return;
  }
  f->captured = f->captured && read_dependencies(f->main, f->main_last, &f->main_count) &&
                SHUNT_CUDA(cudaStreamUpdateCaptureDependencies(
                    f->main, f->before, NULL, f->before_count,
                    cudaStreamSetCaptureDependencies)) == SHUNT_OK;
}

/* A join that fails would leave work behind that reads memory which the program
   believes to be free; so each step is tried a second time.  */
static shunt_status twice(shunt_status (*step)(struct shunt_fork *), struct shunt_fork *f)
{
  shunt_status s = step(f);
  return s == SHUNT_OK ? s : step(f);
}

static shunt_status mark_side(struct shunt_fork *f)
{
  return SHUNT_CUDA(cudaEventRecord(f->own->done, f->side));
}

static shunt_status join_stream(struct shunt_fork *f)
{
  return SHUNT_CUDA(cudaStreamWaitEvent(f->main, f->own->done, 0));
}

static shunt_status join_capture(struct shunt_fork *f)
{
  return SHUNT_CUDA(cudaStreamUpdateCaptureDependencies(f->main, f->main_last, NULL, f->main_count,
                                                        cudaStreamAddCaptureDependencies));
}

shunt_status shunt_fork_join(struct shunt_fork *f)
{
  shunt_status s = SHUNT_OK;
  if (f->own && f->side != f->main) {
    s = twice(mark_side, f);
    if (s == SHUNT_OK) s = twice(join_stream, f);
  } else if (f->captured) {
    s = twice(join_capture, f);
  }
  if (f->own) give_back(f);
  return s;
}
