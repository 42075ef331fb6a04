/* test_cache.c: which matrices the cache knows, and which copies of them: of two formats at a time,
   of thousands of matrices, on thousands of streams, and beside another thread's capture.  The CUDA
   runtime is the test's own.  */
#include <time.h>

#include "tests/unit/plan/cache_calls.h"

static void test_two_widths(void)
{
  const char *narrow = &formats[0], *wide = &formats[1], *third = &formats[2];
  struct shunt_lookup l;
  open_cache(1 << 20);
  check(!call(narrow, &l) && l.pack_wise && pack(narrow) == SHUNT_OK, "the second may pack");
  check(call(narrow, &l) && l.pack_wise, "what it packed is used, and leaves a place");
  check(pack(narrow) == SHUNT_E_MEMORY && allocated == 1, "not for another of that format");
  check(pack(wide) == SHUNT_OK && call(wide, &l) && call(narrow, &l), "two copies stand together");
  check(!l.pack_wise && pack(third) == SHUNT_E_MEMORY && allocated == 2, "not three");
  bool both = true, place = false;
  for (int i = 0; i < 100; i++) {
    both = both && call(narrow, &l) && call(wide, &l);
    place = place || l.pack_wise;
  }
  check(both && !place, "calls of both widths by turns keep both");
  for (int i = 0; i < 80; i++) call(wide, &l);
  check(l.pack_wise && pack(third) == SHUNT_OK, "a third takes the place of an idle one,");
  check(call(third, &l) && call(wide, &l) && !call(narrow, &l), "and of no other");
  shunt_cache_relieve(cache);
  check(pack(narrow) == SHUNT_E_MEMORY && allocated == 2, "whose memory is given back");
  close_cache();
}

/* As many matrices as a large model has, and more than the cache knows at a time. */
static void test_many(void)
{
  enum { FEW = 1000, MANY = 70000 };
  struct shunt_lookup l;
  int known = 0, used = 0;
  open_cache((int64_t)1 << 30);
  for (int i = 0; i < FEW; i++) {
    const struct shunt_key k = key_of(i);
    call_of(&k, formats, 1, &l);
    call_of(&k, formats, 1, &l);
    pack_of(&k, formats, 1000, 1);
  }
  for (int i = 0; i < FEW; i++) {
    const struct shunt_key k = key_of(i);
    used += call_of(&k, formats, 1, &l);
    known += l.calls > 1;
  }
  check(known == FEW && used == FEW, "%d matrices are known at a time (%d), packed (%d)", FEW,
        known, used);
  for (int i = 0; i < MANY; i++) {
    const struct shunt_key k = key_of(i);
    call_of(&k, NULL, 0, &l);
  }
  known = 0;
  for (int i = MANY - 1000; i < MANY; i++) {
    const struct shunt_key k = key_of(i);
    call_of(&k, NULL, 0, &l);
    known += l.calls > 1;
  }
  check(known == 1000, "of %d matrices the last ones are known", MANY);
  const struct shunt_key first = key_of(1);
  call_of(&first, NULL, 0, &l);
  check(l.calls == 1, "and the first ones forgotten");
  close_cache();
}

/* A stream for each call: the copy can be given back all the same. */
static void test_streams(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  call(NULL, &l);
  pack(formats);
  for (int phase = 0; phase < 2; phase++) {
    busy = phase; /* the uses before have not ended */
    for (uintptr_t i = 0; i < 100000; i++) {
      shunt_cache_look_up(cache, &key, &l);
      if (l.packed[0].copy)
        shunt_cache_packed_used(cache, l.packed[0].copy, &(struct shunt_packed_use){.saved_us = 1},
                                (cudaStream_t)(i + 8));
      shunt_lookup_release(cache, &l);
    }
    check(events < 16, "100000 streams leave %d events", events);
    check(phase ? waits > 90000 : waits < 10, "%s",
          phase ? "what has not ended is waited for when memory goes" : "what has ended is not");
  }
  busy = false;
  check(shunt_cache_release_all(cache) > 0 && allocated == 0, "and its memory goes");
  close_cache();
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the processor for frees that concern no matrix; least of many, as other programs take
   the caches. */
static double free_others(void)
{
  double least = 1e9;
  for (int round = 0; round < 20; round++) {
    const double start = now();
    for (int i = 0; i < 10000; i++)
      shunt_cache_forget_range(cache, (const char *)(uintptr_t)(1 << 20) + i * 512, 512);
    const double took = now() - start;
    if (took < least) least = took;
  }
  return least;
}

/* Programs free memory that no matrix is in. */
static void test_unrelated(void)
{
  enum { FEW = 60, MANY = 60000 };
  static char ranges[64];
  struct shunt_lookup l;
  double seconds[2];
  open_cache(1 << 20);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < (round ? MANY : FEW); i++) {
      struct shunt_key k = key_of(i);
      k.columns = (const char *)((uintptr_t)1 << 40) + i * 4096;
      call_of(&k, NULL, 0, &l);
    }
    seconds[round] = free_others();
  }
  check(seconds[1] < 50 * seconds[0] + 0.01,
        "10000 frees of other memory take %.4f s with %d matrices, %.4f with %d", seconds[0], FEW,
        seconds[1], MANY);
  shunt_cache_forget_range(cache, (const char *)((uintptr_t)1 << 40) + 30 * 4096, 1 << 24);
  int known = 0;
  for (int i = 0; i < 6000; i++) {
    struct shunt_key k = key_of(i);
    k.columns = (const char *)((uintptr_t)1 << 40) + i * 4096;
    call_of(&k, NULL, 0, &l);
    known += l.calls > 1;
  }
  check(known == 30 + 6000 - 30 - 4096,
        "a large range: exactly those that begin in it go (%d stay)", known);
  shunt_cache_forget_range(cache, ranges, 0);
  shunt_cache_forget_range(cache, (const void *)(UINTPTR_MAX - 10), 100);
  close_cache();
}

/* Another thread captures in the global mode: nothing of ours disturbs that, or is refused. */
static void test_captured_elsewhere(void)
{
  const struct shunt_csr a = {.nnz = 5};
  struct shunt_lookup l;
  open_cache(1 << 20);
  disturbed = 0;
  captured_elsewhere = arrives = true;
  call(NULL, &l);
  check(pack(&formats[0]) == SHUNT_OK && call(&formats[0], &l), "a copy is made and used");
  shunt_cache_look_up(cache, &key, &l);
  busy = true;
  for (uintptr_t i = 0; i < 100; i++)
    shunt_cache_packed_used(cache, l.packed[0].copy, &(struct shunt_packed_use){.saved_us = 1},
                            (cudaStream_t)(i + 8));
  busy = false;
  check(shunt_cache_settle(cache, &l, 7, &a, NULL, NULL) == SHUNT_OK, "a matrix is settled");
  shunt_lookup_release(cache, &l);
  shunt_cache_look_up_settled(cache, &key, 7, &l);
  check(l.has_profile, "with its profile");
  shunt_cache_reserve(cache);
  shunt_cache_relieve(cache);
  check(shunt_cache_release_all(cache) > 0 && allocated == 0, "the memory is given back");
  check(disturbed == 0, "beside a capture: %d calls that would break it", disturbed);
  captured_elsewhere = false;
  close_cache();
}

int main(void)
{
  test_two_widths();
  test_many();
  test_streams();
  test_unrelated();
  test_captured_elsewhere();
  return check_finish();
}
