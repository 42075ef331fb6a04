/* test_cache.c: what the cache holds of a matrix, with a CUDA runtime of the test's own that works
   at once: packed in two formats at a time, the third in an idle one's place, and when all of them
   go.  */
#include <stdlib.h>
#include <string.h>

#include "backend/plan/cache.h"
#include "backend/plan/log.h"
#include "tests/unit/check.h"

/* ---- a runtime in which all is done at once -------------------------------------------- */

static int allocated; /* pieces of packed memory that are not given back */

cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
cudaError_t cudaMalloc(void **p, size_t n)
{
  return *p = calloc(1, n), *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p)
{
  return free(p), cudaSuccess;
}
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags)
{
  return (void)flags, cudaMalloc(p, n);
}
cudaError_t cudaFreeHost(void *p)
{
  return cudaFree(p);
}
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s)
{
  (void)pool, (void)s;
  allocated++;
  return cudaMalloc(p, n);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
  (void)s;
  allocated--;
  return cudaFree(p);
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  return *available = *total = (size_t)1 << 30, cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t s)
{
  return (void)s, memset(p, value, n), cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind k,
                            cudaStream_t s)
{
  return (void)k, (void)s, memcpy(to, from, n), cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
  return (void)flags, *s = NULL, cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
  return (void)s, cudaSuccess;
}
cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *id)
{
  return (void)s, *id = 1, cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
  return (void)s, (void)e, (void)flags, cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
  (void)s, (void)status, (void)id, (void)graph, (void)nodes, (void)edges, (void)count;
  return cudaErrorUnknown; /* no call of this test captures */
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t *o, void *p, cudaHostFn_t f, unsigned n,
                                 unsigned flags)
{
  (void)o, (void)p, (void)f, (void)n, (void)flags;
  return cudaErrorUnknown;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t g, cudaUserObject_t o, unsigned n, unsigned flags)
{
  (void)g, (void)o, (void)n, (void)flags;
  return cudaErrorUnknown;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
  return (void)mode, cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
  static char event;
  return (void)flags, *e = (cudaEvent_t)(void *)&event, cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
  return (void)e, (void)s, cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e)
{
  return (void)e, cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
  return (void)e, cudaSuccess;
}
shunt_status shunt_profile_csr_cuda(const struct shunt_csr *a, uint64_t serial,
                                    struct shunt_profile *out, void *scratch,
                                    const struct shunt_device *d, shunt_stream stream)
{
  (void)a, (void)serial, (void)out, (void)scratch, (void)d, (void)stream;
  return SHUNT_OK;
}

void shunt_log_profile(const struct shunt_profile *f)
{
  (void)f;
}

/* ---- calls ----------------------------------------------------------------------------- */

static struct shunt_cache *cache;
static const char formats[3];
static const struct shunt_key key = {.columns = formats, .rows = 8, .cols = 8, .nnz = 8};

/* One call with the matrix that uses the plan of `by`, if it has one: has it? */
static bool call(const void *by, struct shunt_lookup *s)
{
  bool used = false;
  shunt_cache_look_up(cache, &key, s);
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (s->plan[i].kept && s->plan[i].by == by)
      used = shunt_cache_packed_used(s->plan[i].kept, NULL, false) == SHUNT_OK;
  shunt_lookup_release(cache, s);
  return used;
}

/* The same for a call that makes the plan. */
static shunt_status make(const void *by)
{
  struct shunt_lookup s;
  struct shunt_cache_packed *k;
  shunt_cache_look_up(cache, &key, &s);
  shunt_status r = shunt_cache_packed_make(cache, &s, by, NULL, 1000, NULL, &k);
  if (r == SHUNT_OK) {
    r = shunt_cache_packed_built(k, NULL);
    shunt_cache_packed_release(cache, k, false);
  }
  shunt_lookup_release(cache, &s);
  return r;
}

static void open_cache(int64_t most_bytes)
{
  struct shunt_lookup s;
  allocated = 0;
  check(shunt_cache_make(&cache, most_bytes) == SHUNT_OK, "a cache of %lld bytes",
        (long long)most_bytes);
  check(!call(NULL, &s) && !s.keep_wise, "the first call keeps nothing");
}

/* ---- cases ----------------------------------------------------------------------------- */

static void test_two_widths(void)
{
  const char *narrow = &formats[0], *wide = &formats[1], *third = &formats[2];
  struct shunt_lookup s;
  open_cache(1 << 20);
  check(!call(narrow, &s) && s.keep_wise && make(narrow) == SHUNT_OK, "the second may keep a plan");
  check(call(narrow, &s) && s.keep_wise, "which is used, and leaves a place");
  check(make(narrow) == SHUNT_E_MEMORY && allocated == 1, "not for another of that format");
  check(make(wide) == SHUNT_OK && call(wide, &s) && call(narrow, &s), "two plans stand together");
  check(!s.keep_wise && make(third) == SHUNT_E_MEMORY && allocated == 2, "not three");
  bool both = true, place = false;
  for (int i = 0; i < 100; i++) {
    both = both && call(narrow, &s) && call(wide, &s);
    place = place || s.keep_wise;
  }
  check(both && !place, "calls of both widths by turns keep both");
  for (int i = 0; i < 20; i++) call(wide, &s);
  check(s.keep_wise && make(third) == SHUNT_OK, "a third takes the place of an idle one,");
  check(call(third, &s) && call(wide, &s) && !call(narrow, &s), "and of no other");
  shunt_cache_relieve(cache);
  check(make(narrow) == SHUNT_E_MEMORY && allocated == 2, "whose memory is given back");
  shunt_cache_free(cache);
}

/* The device says of one plan that the matrix changed. */
static void test_change(void)
{
  struct shunt_lookup s;
  open_cache(1 << 20);
  call(NULL, &s);
  make(&formats[0]);
  make(&formats[1]);
  shunt_cache_look_up(cache, &key, &s);
  *shunt_cache_packed_view(s.plan[1].kept).changed = 1;
  shunt_lookup_release(cache, &s);
  check(!call(&formats[0], &s) && !call(&formats[1], &s), "what changed has no plans any more,");
  check(!s.keep_wise && !s.no_copies, "and gets none for a while");
  for (int i = 0; i < 16; i++) call(NULL, &s);
  check(s.keep_wise && make(&formats[1]) == SHUNT_OK && call(&formats[1], &s), "but later");
  shunt_cache_look_up(cache, &key, &s);
  *shunt_cache_packed_view(s.plan[0].kept).nonfinite = 1;
  shunt_lookup_release(cache, &s);
  check(!call(&formats[1], &s) && s.no_copies && !s.keep_wise, "where copies do not stand: never");
  shunt_cache_free(cache);
}

/* Plans that nobody uses make room first, though calls with their matrix go on. */
static void test_room(void)
{
  struct shunt_lookup s;
  struct shunt_key other = key;
  struct shunt_cache_packed *k;
  other.nnz = 9;
  open_cache(3 * 1256); /* three plans of 1000 bytes and their headers */
  call(NULL, &s);
  make(&formats[0]);
  make(&formats[1]);
  for (int i = 0; i < 40; i++) call(&formats[0], &s);
  for (int i = 0; i < 2; i++) {
    shunt_cache_look_up(cache, &other, &s);
    check(shunt_cache_packed_make(cache, &s, &formats[i], NULL, 1000, NULL, &k) == SHUNT_OK,
          "plan %d of another matrix has room", i);
    shunt_cache_packed_built(k, NULL);
    shunt_cache_packed_release(cache, k, false);
    shunt_lookup_release(cache, &s);
  }
  check(call(&formats[0], &s) && !call(&formats[1], &s), "an idle plan's");
  shunt_cache_free(cache);
}

int main(void)
{
  test_two_widths();
  test_change();
  test_room();
  return check_finish();
}
