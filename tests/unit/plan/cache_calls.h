/* cache_calls.h: calls with matrices of the tests of the cache: looked up, used and packed as the
   planner does it, on the runtime of cache_runtime.h.  */
#ifndef CACHE_CALLS_H
#define CACHE_CALLS_H

#include "backend/plan/cache.h"
#include "tests/unit/check.h"
#include "tests/unit/plan/cache_runtime.h"

static struct shunt_cache *cache;
static const char formats[1 << 17];
static const struct shunt_key key = {.columns = formats, .rows = 8, .cols = 8, .nnz = 8};

static struct shunt_key key_of(int i)
{
  struct shunt_key k = key;
  k.values = formats + i;
  return k;
}

static bool last_was_proved;

/* One call with a matrix that uses the copy of `by`, if it has one, which saves so much: has it? */
static bool call_of(const struct shunt_key *k, const void *by, double saves, struct shunt_lookup *l)
{
  bool used = false;
  shunt_cache_look_up(cache, k, l);
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (l->packed[i].copy && l->packed[i].by == by) {
      const bool trusted = shunt_cache_packed_trusted(l->packed[i].copy);
      const struct shunt_packed_use use = {.saved_us = saves, .unproved = trusted};
      used = shunt_cache_packed_used(cache, l->packed[i].copy, &use, NULL) == SHUNT_OK;
      last_was_proved = !trusted;
    }
  shunt_lookup_release(cache, l);
  return used;
}

static bool call(const void *by, struct shunt_lookup *l)
{
  return call_of(&key, by, 1, l);
}

/* The same for a call that packs. */
static shunt_status pack_of(const struct shunt_key *key_, const void *by, size_t bytes,
                            double saves)
{
  const struct shunt_packed_request r = {.by = by, .payload_bytes = bytes, .saves_us = saves};
  struct shunt_lookup l;
  struct shunt_cache_packed *k;
  shunt_cache_look_up(cache, key_, &l);
  shunt_status s = shunt_cache_packed_make(cache, &l, &r, NULL, &k);
  if (s == SHUNT_OK) {
    s = shunt_cache_packed_built(cache, k, NULL);
    shunt_cache_packed_release(cache, k, false);
  }
  shunt_lookup_release(cache, &l);
  return s;
}

static inline shunt_status pack(const void *by)
{
  return pack_of(&key, by, 1000, 1);
}

static void open_cache(int64_t most_bytes)
{
  struct shunt_lookup l;
  events = waits = asks = 0;
  busy = arrives = false;
  check(shunt_cache_make(&cache, NULL, most_bytes, most_bytes) == SHUNT_OK, "a cache of %lld bytes",
        (long long)most_bytes);
  allocated = 0;
  empty_pool();
  check(!call(NULL, &l) && !l.pack_wise, "the first call packs nothing");
}

static void close_cache(void)
{
  shunt_cache_forget(cache);
  check(allocated == 0, "all memory is given back");
  shunt_cache_free(cache);
  check(allocated == (options.report[0] ? -2 : -1), "and the cache's own");
}

#endif
