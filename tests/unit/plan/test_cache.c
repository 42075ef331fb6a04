/* test_cache.c: what the cache holds of matrices, with a CUDA runtime of the test's own that works
   at once: copies of two formats at a time, the third in an idle one's place; which copies make
   room for which; thousands of matrices, streams and profiles; and when all of it goes.  */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/plan/cache.h"
#include "backend/plan/frozen.h"
#include "backend/plan/memory/budget.h"
#include "kernels/guard/guard.h"
#include "tests/unit/check.h"
#include "tests/unit/plan/cache_runtime.h"

/* ---- calls ----------------------------------------------------------------------------- */

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

static shunt_status pack(const void *by)
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
  check(!call(NULL, &l) && !l.pack_wise, "the first call packs nothing");
}

static void close_cache(void)
{
  shunt_cache_forget(cache);
  check(allocated == 0, "all memory is given back");
  shunt_cache_free(cache);
  check(allocated == -1, "and the cache's own");
}

/* ---- cases ----------------------------------------------------------------------------- */

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

/* The device says of one copy that the matrix changed, or that copies do not stand for it. */
static void test_change(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  call(NULL, &l);
  pack(&formats[0]);
  pack(&formats[1]);
  shunt_cache_look_up(cache, &key, &l);
  *shunt_cache_packed_view(l.packed[1].copy).changed = 1;
  shunt_lookup_release(cache, &l);
  check(!call(&formats[0], &l) && !call(&formats[1], &l), "what changed has no copies any more,");
  check(!l.pack_wise && !l.no_copies, "and gets none for a while");
  for (int i = 0; i < 16; i++) call(NULL, &l);
  check(l.pack_wise && pack(&formats[1]) == SHUNT_OK && call(&formats[1], &l), "but later");
  close_cache();
}

static void spoil(void)
{
  struct shunt_lookup l;
  shunt_cache_look_up(cache, &key, &l);
  for (int i = 0; i < SHUNT_MOST_PACKED; i++)
    if (l.packed[i].copy) *shunt_cache_packed_view(l.packed[i].copy).nonfinite = 1;
  shunt_lookup_release(cache, &l);
}

/* Calls until the matrix may be packed again. */
static int calls_without(void)
{
  struct shunt_lookup l;
  int n = 0;
  do call(NULL, &l);
  while (!l.pack_wise && ++n < 1 << 20);
  return n;
}

static void test_recovery(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  call(NULL, &l);
  pack(&formats[0]);
  spoil();
  check(!call(&formats[0], &l) && l.no_copies && !l.pack_wise, "a NaN ends copies");
  const int once = calls_without();
  check(once < 100 && pack(&formats[0]) == SHUNT_OK && call(&formats[0], &l) && !l.no_copies,
        "for %d calls, not for good", once);
  spoil();
  call(NULL, &l);
  const int twice = calls_without();
  check(twice > once && pack(&formats[0]) == SHUNT_OK, "the next time for longer (%d)", twice);
  for (int i = 0; i < 100; i++) call(&formats[0], &l);
  spoil();
  call(NULL, &l);
  const int again = calls_without();
  check(again <= once + 1, "until copies have stood for a while (%d)", again);
  close_cache();
}

/* Copies that nobody uses make room first, though calls with their matrix go on. */
static void test_room(void)
{
  const struct shunt_key other = key_of(1);
  struct shunt_lookup l;
  open_cache(3 * 1256); /* three copies of 1000 bytes and their headers */
  call(NULL, &l);
  pack(&formats[0]);
  pack(&formats[1]);
  for (int i = 0; i < 40; i++) call(&formats[0], &l);
  for (int i = 0; i < 2; i++)
    check(pack_of(&other, &formats[i], 1000, 2) == SHUNT_OK, "copy %d of another matrix has room",
          i);
  check(call(&formats[0], &l) && !call(&formats[1], &l), "an idle copy's");
  close_cache();
}

/* Matrices in turn, more than fit: those that are packed stay, and run at their speed. */
static void test_turns(void)
{
  enum { MATRICES = 100, FIT = 40, ROUNDS = 50 };
  struct shunt_lookup l;
  int hits[ROUNDS] = {0}, makes = 0;
  open_cache(FIT * 1256);
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < MATRICES; i++) {
      const struct shunt_key k = key_of(i);
      if (call_of(&k, formats, 10, &l))
        hits[round]++;
      else if (l.pack_wise && pack_of(&k, formats, 1000, 10) == SHUNT_OK)
        makes++;
    }
  check(hits[5] == FIT && hits[ROUNDS - 1] == FIT && makes <= FIT + 5,
        "%d of %d matrices in turn keep their copies (%d, %d used; %d made)", FIT, MATRICES,
        hits[5], hits[ROUNDS - 1], makes);
  const struct shunt_key worthy = key_of(MATRICES);
  call_of(&worthy, formats, 1000, &l);
  call_of(&worthy, formats, 1000, &l);
  check(pack_of(&worthy, formats, 1000, 1000) == SHUNT_OK && call_of(&worthy, formats, 1000, &l),
        "one that saves a hundred times as much takes the place of one of them");
  const struct shunt_key large = key_of(MATRICES + 1);
  call_of(&large, formats, 30, &l);
  check(pack_of(&large, formats, 20 * 1256 - 256, 30) != SHUNT_OK,
        "not one that saves three times as much, on twenty times the memory");
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

/* SHUNT_ASSUME=frozen: whose copies are trusted, and when. */
static void test_frozen(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  options.assume = SHUNT_ASSUME_FROZEN;
  call(NULL, &l);
  pack(formats);
  busy = true;
  bool proved = true;
  for (int i = 0; i < 100; i++) proved = proved && call(formats, &l) && last_was_proved;
  check(proved, "a copy is proved while none of its proofs is known to have passed");
  busy = false;
  check(call(formats, &l) && !last_was_proved, "and trusted when they are");
  int proofs = 0;
  for (int i = 0; i < 10 * SHUNT_FROZEN_SHARE; i++) call(formats, &l), proofs += last_was_proved;
  check(proofs == 10, "one use in %d is proved", SHUNT_FROZEN_SHARE);

  const struct shunt_key other = key_of(1);
  call_of(&other, NULL, 0, &l);
  pack_of(&other, formats, 1000, 1);
  call_of(&other, formats, 1, &l);
  check(last_was_proved, "one at addresses that were not met before is proved");
  shunt_cache_forget_range(cache, formats, 1);
  call(NULL, &l);
  pack(formats);
  call(formats, &l);
  check(last_was_proved, "as is one whose arrays were freed");

  for (int i = 0; i < 2 * SHUNT_FROZEN_PROOFS; i++) call(formats, &l);
  check(!last_was_proved, "until it is met as often");
  shunt_cache_look_up(cache, &key, &l);
  *shunt_cache_packed_view(l.packed[0].copy).changed = SHUNT_GUARD_NO_SET;
  shunt_lookup_release(cache, &l);
  check(!call(formats, &l) && !shunt_frozen_broken(), "a table without room breaks no promise");
  for (int i = 0; i < 4; i++) call(NULL, &l);
  for (int i = 0; i < 200 && pack(formats) != SHUNT_OK; i++) call(NULL, &l);
  for (int i = 0; i < 2 * SHUNT_FROZEN_PROOFS; i++) call(formats, &l);
  check(!last_was_proved, "the next copy is trusted");
  shunt_cache_look_up(cache, &key, &l);
  *shunt_cache_packed_view(l.packed[0].copy).changed = SHUNT_GUARD_CHANGED;
  shunt_lookup_release(cache, &l);
  check(!call(formats, &l) && shunt_frozen_broken(), "a change breaks it, and the copy goes");
  for (int i = 0; i < 200 && pack(formats) != SHUNT_OK; i++) call(NULL, &l);
  for (int i = 0; i < 2 * SHUNT_FROZEN_PROOFS; i++) call(formats, &l);
  check(last_was_proved, "no copy is trusted from then on");
  options.assume = SHUNT_ASSUME_NOTHING;
  check(shunt_cache_release_all(cache) > 0 && allocated == 0, "its memory goes");
  close_cache();
}

static void test_profiles(void)
{
  const struct shunt_csr a = {.nnz = 5}, b = {.nnz = 6};
  const struct shunt_key k1 = key_of(1), k2 = key_of(2);
  struct shunt_lookup l, m;
  open_cache(1 << 20);
  call_of(&k1, NULL, 0, &l);
  check(l.profile_wanted && shunt_cache_profile(cache, &l, &a, NULL, NULL) == SHUNT_OK && asks == 1,
        "a profile is asked for");
  call_of(&k1, NULL, 0, &m);
  check(!m.profile_wanted && !m.has_profile, "once");
  shunt_cache_profile(cache, &l, &a, NULL, NULL);
  check(asks == 1, "though two calls want it");
  arrive(0);
  call_of(&k1, NULL, 0, &l);
  check(l.has_profile && l.profile.nnz == 5 && !l.profile_wanted, "it arrives");

  call_of(&k2, NULL, 0, &l);
  shunt_cache_profile(cache, &l, &b, NULL, NULL);
  shunt_cache_forget(cache);
  call_of(&k2, NULL, 0, &m);
  check(m.profile_wanted, "an entry whose profile was under way when it went wants one again");
  shunt_cache_profile(cache, &l, &b, NULL, NULL);
  check(asks == 2, "(not by a lookup of the entry that went)");
  shunt_cache_profile(cache, &m, &a, NULL, NULL);
  arrive(1);
  call_of(&k2, NULL, 0, &l);
  check(!l.has_profile && asks == 3 && asked[1].to != asked[2].to,
        "what comes for the old one is nobody's,");
  arrive(2);
  call_of(&k2, NULL, 0, &l);
  check(l.has_profile && l.profile.nnz == 5, "what comes for the new one is its own");

  const struct shunt_key k3 = key_of(3);
  call_of(&k3, NULL, 0, &l);
  shunt_cache_profile(cache, &l, &a, NULL, NULL); /* never arrives: its stream failed */
  bool wanted = false;
  for (int i = 0; i < 100000 && !wanted; i++) {
    call_of(&k3, NULL, 0, &l);
    wanted = l.profile_wanted;
  }
  check(wanted, "one that never comes is asked for again");

  arrives = false;
  for (int i = 0; i < 1000; i++) {
    const struct shunt_key k = key_of(100 + i);
    call_of(&k, NULL, 0, &l);
    shunt_cache_profile(cache, &l, &a, NULL, NULL);
  }
  const int before = asks;
  check(before < 400, "only so many are under way at a time (%d)", before);
  close_cache();
}

static void test_settled(void)
{
  const struct shunt_csr a = {.nnz = 5};
  struct shunt_lookup l;
  open_cache(1 << 20);
  shunt_cache_look_up_settled(cache, &key, 7, &l);
  check(!l.has_profile, "nothing is settled at first");
  call(NULL, &l);
  arrives = true;
  shunt_cache_profile(cache, &l, &a, NULL, NULL);
  call(NULL, &l);
  check(l.has_profile, "a profile that has come");
  shunt_cache_look_up_settled(cache, &key, 7, &l);
  check(!l.has_profile && !l.entry, "is not settled");
  call(NULL, &l);
  check(shunt_cache_settle(cache, &l, 7, &a, NULL, NULL) == SHUNT_OK, "one that was waited for is");
  shunt_cache_look_up_settled(cache, &key, 7, &l);
  check(l.has_profile && l.profile.nnz == 5 && !l.pack_wise && !l.profile_wanted,
        "and comes alone");
  shunt_cache_look_up_settled(cache, &key, 8, &l);
  check(!l.has_profile, "not in another epoch, though all addresses are the same");
  shunt_cache_look_up_settled(cache, &key, 0, &l);
  check(!l.has_profile, "nor in none");

  /* Whatever else is under way. */
  arrives = false;
  for (int i = 0; i < 1000; i++) {
    const struct shunt_key k = key_of(100 + i);
    call_of(&k, NULL, 0, &l);
    shunt_cache_profile(cache, &l, &a, NULL, NULL);
  }
  const struct shunt_key last = key_of(2000);
  call_of(&last, NULL, 0, &l);
  shunt_cache_profile(cache, &l, &a, NULL, NULL);
  arrives = true;
  shunt_cache_settle(cache, &l, 9, &a, NULL, NULL);
  shunt_cache_look_up_settled(cache, &last, 9, &l);
  check(l.has_profile, "where all profiles are under way, a matrix is settled all the same");
  const struct shunt_key first = key_of(100); /* whose own is under way */
  call_of(&first, NULL, 0, &l);
  shunt_cache_settle(cache, &l, 10, &a, NULL, NULL);
  shunt_cache_look_up_settled(cache, &first, 10, &l);
  check(l.has_profile, "and so is one whose profile another thread waits for");
  call_of(&first, NULL, 0, &l);
  arrives = false;
  shunt_cache_settle(cache, &l, 11, &a, NULL, NULL);
  shunt_cache_look_up_settled(cache, &first, 11, &l);
  check(!l.has_profile, "one that failed is not");
  close_cache();
}

/* A copy that takes the place of many does not look at each once for each. */
static void test_way(void)
{
  enum { MANY = 2000 };
  const struct shunt_key large = key_of(MANY);
  struct shunt_lookup l;
  open_cache(MANY * 1256);
  for (int i = 0; i < MANY; i++) {
    const struct shunt_key k = key_of(i);
    call_of(&k, NULL, 0, &l);
    if (pack_of(&k, formats, 1000, 1) != SHUNT_OK) check(0, "copy %d has room", i);
  }
  for (int i = 0; i < 2; i++) call_of(&large, NULL, 0, &l);
  busy = true; /* what is given back is on its way */
  queries = 0;
  check(pack_of(&large, formats, MANY / 2 * 1256 - 256, 1e9) == SHUNT_OK, "a large copy has room");
  check(allocated == MANY / 2 + 1, "that of %d small ones (%d stay)", MANY / 2, allocated - 1);
  check(queries < 4 * MANY, "after %d questions", queries);
  const struct shunt_key larger = key_of(MANY + 1);
  for (int i = 0; i < 2; i++) call_of(&larger, NULL, 0, &l);
  check(pack_of(&larger, formats, MANY * 1256 - 256, 3e6) != SHUNT_OK && allocated == MANY / 2 + 1,
        "where those that may go are not enough, none goes");
  available = 0;
  queries = 0;
  shunt_cache_relieve(cache);
  check(allocated == 0 && queries < 4 * MANY, "all are given back after %d questions", queries);
  available = (size_t)1 << 40;
  busy = false;
  close_cache();
}

/* Memory is looked at by the clock of all matrices. */
static void test_relief(void)
{
  struct shunt_lookup l;
  int wanted = 0;
  open_cache(1 << 20);
  for (int i = 0; i < 4096; i++) {
    const struct shunt_key k = key_of(i % 3000);
    call_of(&k, NULL, 0, &l);
    if (!shunt_cache_wants_relief(cache)) continue;
    wanted++;
    shunt_cache_relieve(cache);
  }
  check(wanted == 4, "3000 matrices in turn: relief is wanted %d times in 4096 calls", wanted);
  close_cache();
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds for frees that concern no matrix. */
static double free_others(void)
{
  const double start = now();
  for (int i = 0; i < 10000; i++)
    shunt_cache_forget_range(cache, (const char *)(uintptr_t)(1 << 20) + i * 512, 512);
  return now() - start;
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

/* Uses that wait for what the program does next must not hold its allocation up. */
static void test_stuck(void)
{
  struct shunt_lookup l;
  open_cache(1 << 20);
  call(NULL, &l);
  pack(&formats[0]);
  busy = true;
  synchronized = 0;
  check(shunt_cache_release_all(cache) > 0 && synchronized == 0,
        "what does not come back is not waited for without end");
  busy = false;
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

static void test_memory(void)
{
  struct shunt_key k = key_of(1), other = key_of(2);
  struct shunt_lookup l;
  char *memory = malloc(4096);
  open_cache(1 << 20);
  k.columns = memory + 100;
  for (int i = 0; i < 2; i++) call_of(&k, NULL, 0, &l), call_of(&other, NULL, 0, &l);
  pack_of(&k, formats, 1000, 1);
  pack_of(&other, formats, 1000, 1);
  shunt_cache_forget_range(cache, memory, 4096);
  check(!call_of(&k, formats, 1, &l) && l.calls == 1 && allocated == 1,
        "a matrix whose memory is freed is forgotten, and its copy freed");
  check(call_of(&other, formats, 1, &l), "no other");
  available = (size_t)1 << 30; /* a thousandth of the device */
  shunt_cache_relieve(cache);
  check(!call_of(&other, formats, 1, &l) && allocated == 0, "when memory runs short copies go");
  check(pack_of(&other, formats, 1000, 1) == SHUNT_E_MEMORY, "and none are made");
  available = (size_t)1 << 40;
  for (int i = 0; i < 100; i++) call_of(&other, NULL, 0, &l);
  check(pack_of(&other, formats, 1000, 1) == SHUNT_OK, "until there is some again");
  shunt_cache_look_up(cache, &other, &l);
  check(shunt_cache_release_all(cache) == 0, "a copy that a call holds is not taken away");
  shunt_lookup_release(cache, &l);
  check(shunt_cache_release_all(cache) > 0 && allocated == 0, "all others are");
  free(memory);
  close_cache();

  check(shunt_cache_make(&cache, NULL, 2 * 1256, 4 * 1256) == SHUNT_OK, "a cache with two limits");
  allocated = 0;
  for (int i = 0; i < 4; i++) {
    const struct shunt_key each = key_of(10 + i);
    call_of(&each, NULL, 0, &l);
    check(pack_of(&each, formats, 1000, 1) == SHUNT_OK, "copy %d while most memory is free", i);
  }
  available = (size_t)1 << 38; /* a quarter of the device */
  shunt_cache_relieve(cache);
  check(allocated == 2, "two of them go when others need memory");
  available = (size_t)1 << 40;
  close_cache();
}

/* Another process keeps so much, until the pipe is closed.  -1: it could not begin. */
static pid_t keep_elsewhere(const char *folder, int64_t bytes, int64_t budget, int *pipe_end)
{
  static const unsigned char uuid[16] = {7};
  int go[2], ready[2];
  char c;
  if (pipe(go) || pipe(ready)) return -1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    struct shunt_budget *s = shunt_budget_open(folder, uuid);
    close(go[1]);
    const bool took = s && shunt_budget_take(s, bytes, budget) && write(ready[1], "", 1) == 1;
    while (read(go[0], &c, 1) > 0) shunt_budget_want(s, 1000);
    exit(!took);
  }
  close(go[0]), close(ready[1]);
  const bool began = read(ready[0], &c, 1) == 1;
  close(ready[0]);
  *pipe_end = go[1];
  return began ? child : -1;
}

/* Room for three copies, in all processes. */
static void test_shared(void)
{
  static const unsigned char uuid[16] = {7};
  char folder[] = "/tmp/shunt-cache-XXXXXX";
  const int64_t budget = 3 * 1256;
  struct shunt_lookup l;
  int end = -1;
  struct shunt_budget *shared = mkdtemp(folder) ? shunt_budget_open(folder, uuid) : NULL;
  check(shared != NULL, "a budget for all processes");
  open_cache(budget);
  shunt_cache_share(cache, shared);
  call(NULL, &l);
  pid_t other = keep_elsewhere(folder, 2 * 1256, budget, &end);
  check(other > 0 && pack(&formats[0]) == SHUNT_OK, "what another process leaves");
  check(pack(&formats[1]) == SHUNT_E_MEMORY && allocated == 1, "and no more");
  check(!shunt_cache_wants_relief(cache) || !shunt_cache_wants_relief(cache),
        "one's own want is heard once");
  close(end);
  waitpid(other, NULL, 0);
  for (int i = 0; i < 100; i++) call(&formats[0], &l);
  check(pack(&formats[1]) == SHUNT_OK && allocated == 2, "when it ends there is room");
  other = keep_elsewhere(folder, 1256, budget, &end);
  check(write(end, "", 1) == 1, "another wants something");
  for (int i = 0; i < 1000 && !shunt_cache_wants_relief(cache); i++)
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  shunt_cache_relieve(cache);
  check(allocated == 1, "and gets what is above an equal share: %d copies left", allocated);
  close(end);
  waitpid(other, NULL, 0);
  close_cache();
  shunt_budget_close(shared);
  rmdir(folder);
}

int main(void)
{
  test_two_widths();
  test_change();
  test_recovery();
  test_room();
  test_shared();
  test_turns();
  test_many();
  test_streams();
  test_frozen();
  test_profiles();
  test_settled();
  test_way();
  test_relief();
  test_unrelated();
  test_stuck();
  test_captured_elsewhere();
  test_memory();
  return check_finish();
}
