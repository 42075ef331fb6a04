/* test_cache_memory.c: which copies of the cache make room for which, and when they are given back:
   to the program, and to other processes.  */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/memory/budget.h"
#include "tests/splitmix64.h"
#include "tests/unit/clock.h"
#include "tests/unit/plan/cache_calls.h"

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

static shunt_status study_of(const struct shunt_key *k, const void *for_copy)
{
  const struct shunt_packed_request r = {.study_for = for_copy, .payload_bytes = 100};
  struct shunt_lookup l;
  struct shunt_cache_packed *study;
  shunt_cache_look_up(cache, k, &l);
  shunt_status s = shunt_cache_packed_make(cache, &l, &r, NULL, &study);
  if (s == SHUNT_OK) s = shunt_cache_packed_built(cache, study, NULL);
  if (s == SHUNT_OK) shunt_cache_packed_release(cache, study, true);
  shunt_lookup_release(cache, &l);
  return s;
}

/* A copy has found no room: what it needs first is not made before it would find some, and nothing
   makes way for that.  */
static void test_study(void)
{
  enum { MATRICES = 3 };
  struct shunt_lookup l;
  open_cache(MATRICES * 1256 + 400);
  for (int i = 0; i <= MATRICES; i++) {
    const struct shunt_key k = key_of(i);
    for (int n = 0; n < 3; n++) call_of(&k, formats, 10, &l);
    if (i < MATRICES) check(pack_of(&k, formats, 1000, 10) == SHUNT_OK, "copy %d", i);
  }
  const struct shunt_key last = key_of(MATRICES);
  check(study_of(&last, formats) == SHUNT_OK, "a study of a copy that nobody has asked for");
  check(pack_of(&last, formats, 1000, 10) == SHUNT_E_MEMORY, "which then finds no room");
  check(study_of(&last, formats) == SHUNT_E_MEMORY, "no study once more, though that has room");
  check(study_of(&last, &formats[1]) == SHUNT_OK, "but one for another, which may be smaller");
  for (int i = 0; i < MATRICES; i++) {
    const struct shunt_key k = key_of(i);
    check(call_of(&k, formats, 10, &l), "copy %d has not made way", i);
  }
  const struct shunt_key first = key_of(0);
  shunt_cache_look_up(cache, &first, &l);
  shunt_cache_packed_release(cache, l.packed[0].copy, true);
  l.packed[0].copy = NULL;
  shunt_lookup_release(cache, &l);
  shunt_cache_relieve(cache);
  check(study_of(&last, formats) == SHUNT_OK, "again where there is room for the copy, too");
  check(pack_of(&last, formats, 1000, 10) == SHUNT_OK, "which has it");
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
  check(shunt_cache_release_all(cache) > 0 && shunt_cache_release_all(cache) == 0,
        "what went is with the device by when the program asks");
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

enum { MIB = 1 << 20, TWELVE_MIB = 12 * MIB - 256 }; /* with a header */

/* So many matrices ask in turn for copies of 12 MiB, two of which fit in a piece of the pool. */
static int ask_for_copies(int matrices, int rounds)
{
  struct shunt_lookup l;
  int made = 0;
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < matrices; i++) {
      const struct shunt_key k = key_of(i);
      if (!call_of(&k, formats, 10, &l) && l.pack_wise)
        made += pack_of(&k, formats, TWELVE_MIB, 10) == SHUNT_OK;
      if (shunt_cache_wants_relief(cache)) shunt_cache_relieve(cache);
    }
  return made;
}

/* The pool takes no more of the device than copies may have. */
static void test_pieces(void)
{
  open_cache(96 * MIB);
  const int made = ask_for_copies(8, 4);
  check(made == 6 && pool_reserved() == 96 * MIB,
        "of 8 copies of 12 MiB 6 are in 96 MiB of the device (%d; %zu bytes)", made,
        pool_reserved());
  ask_for_copies(8, 300);
  check(pieces_taken == 4, "one that did not fit is not tried again (%d pieces)", pieces_taken);
  const struct shunt_key small = key_of(20);
  check(pack_of(&small, formats, MIB, 10) == SHUNT_OK && pool_reserved() == 96 * MIB,
        "one that fits into what is left has it");
  const struct shunt_key worthy = key_of(21);
  check(pack_of(&worthy, formats, TWELVE_MIB, 1e6) == SHUNT_OK && pool_reserved() == 96 * MIB,
        "one that saves much takes the place of another");
  close_cache();
}

/* What is left is in few pieces, too. */
static void test_spread(void)
{
  check(shunt_cache_make(&cache, NULL, 32 * MIB, 192 * MIB) == SHUNT_OK, "a cache with two limits");
  allocated = 0;
  empty_pool();
  check(ask_for_copies(12, 3) == 12, "copies in six pieces");
  available = (size_t)1 << 38; /* a quarter of the device */
  int rounds = 0;
  do shunt_cache_relieve(cache);
  while (shunt_cache_wants_relief(cache) && ++rounds < 20);
  check(pool_reserved() <= 32 * MIB && rounds < 20,
        "where there may be one, the others are given back (%zu bytes, %d rounds)", pool_reserved(),
        rounds);
  ask_for_copies(12, 200);
  check(allocated == 2 && pool_reserved() == 32 * MIB, "and it fills up again (%d)", allocated);
  available = (size_t)1 << 40;
  close_cache();
}

/* Copies of all sizes come and go, while the device is late and other programs take memory. */
static void test_storm(void)
{
  enum { MATRICES = 24, CALLS = 20000 };
  struct shunt_lookup l;
  uint64_t seed = 1;
  int64_t over = 0;
  check(shunt_cache_make(&cache, NULL, 64 * MIB, 160 * MIB) == SHUNT_OK, "a cache with two limits");
  allocated = 0;
  empty_pool();
  for (int i = 0; i < CALLS; i++) {
    const uint64_t random = splitmix64(&seed);
    const struct shunt_key k = key_of((int)(random % MATRICES));
    const size_t bytes = (size_t)(1 + random % MATRICES) * MIB;
    busy = random >> 32 & 1;
    available = (size_t)1 << (random >> 40 & 1023 ? 40 : 38);
    if (!call_of(&k, formats, 10, &l) && l.pack_wise) pack_of(&k, formats, bytes, 10);
    if (shunt_cache_wants_relief(cache)) shunt_cache_relieve(cache);
    over += pool_reserved() > 192 * MIB;
  }
  check(over == 0, "the pool has no more than one piece too many at any time (%lld)",
        (long long)over);
  busy = false;
  int rounds = 0;
  do shunt_cache_relieve(cache);
  while (shunt_cache_wants_relief(cache) && ++rounds < 20);
  check(pool_reserved() <= 160 * MIB && allocated > 0, "nor than it may, once the device is there");
  check(pieces_taken < CALLS / 20, "pieces are taken %d times", pieces_taken);
  available = (size_t)1 << 40;
  close_cache();
}

/* Other processes hear of whole pieces, but of the first one only what is in it. */
static void test_told(void)
{
  static const unsigned char uuid[16] = {7};
  char folder[] = "/tmp/shunt-cache-XXXXXX";
  struct shunt_budget *shared = mkdtemp(folder) ? shunt_budget_open(folder, uuid) : NULL;
  struct shunt_budget *other = shunt_budget_open(folder, uuid);
  check(shared && other, "a budget for two");
  open_cache(64 * MIB);
  shunt_cache_share(cache, shared);
  ask_for_copies(1, 3);
  check(shunt_budget_others(other) == 12 * MIB, "one copy: its bytes");
  ask_for_copies(3, 3);
  check(shunt_budget_others(other) == 64 * MIB, "three copies: both pieces");
  close_cache();
  shunt_budget_close(shared);
  shunt_budget_close(other);
  rmdir(folder);
}

/* Another process keeps so much, and wants more when it is told, until it is ended.  -1: it could
   not begin. */
static pid_t keep_elsewhere(const char *folder, int64_t bytes, int64_t budget, int ends[2])
{
  static const unsigned char uuid[16] = {7};
  int go[2], done[2];
  char c;
  if (pipe(go) || pipe(done)) return -1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    struct shunt_budget *s = shunt_budget_open(folder, uuid);
    close(go[1]);
    bool good = s && shunt_budget_take(s, bytes, budget) && write(done[1], "", 1) == 1;
    while (good && read(go[0], &c, 1) > 0) {
      shunt_budget_want(s, 1000);
      good = write(done[1], "", 1) == 1;
    }
    exit(!good);
  }
  close(go[0]), close(done[1]);
  ends[0] = done[0], ends[1] = go[1];
  return read(done[0], &c, 1) == 1 ? child : -1;
}
static bool want_elsewhere(const int ends[2])
{
  char c;
  return write(ends[1], "", 1) == 1 && read(ends[0], &c, 1) == 1;
}
static void end_elsewhere(pid_t other, const int ends[2])
{
  close(ends[0]), close(ends[1]);
  waitpid(other, NULL, 0);
}

/* Room for three copies, in all processes. */
static void test_shared(void)
{
  static const unsigned char uuid[16] = {7};
  char folder[] = "/tmp/shunt-cache-XXXXXX";
  const int64_t budget = 3 * 1256;
  struct shunt_lookup l;
  int ends[2] = {-1, -1};
  struct shunt_budget *shared = mkdtemp(folder) ? shunt_budget_open(folder, uuid) : NULL;
  check(shared != NULL, "a budget for all processes");
  open_cache(budget);
  shunt_cache_share(cache, shared);
  call(NULL, &l);
  pid_t other = keep_elsewhere(folder, 2 * 1256, budget, ends);
  check(other > 0 && pack(&formats[0]) == SHUNT_OK, "what another process leaves");
  check(pack(&formats[1]) == SHUNT_E_MEMORY && allocated == 1, "and no more");
  check(!shunt_cache_wants_relief(cache) || !shunt_cache_wants_relief(cache),
        "one's own want is heard once");
  end_elsewhere(other, ends);
  for (int i = 0; i < 1024; i++) call(&formats[0], &l);
  check(pack(&formats[1]) == SHUNT_OK && allocated == 2, "when it ends there is room");
  other = keep_elsewhere(folder, 1256, budget, ends);
  check(want_elsewhere(ends) && shunt_cache_wants_relief(cache), "another wants something");
  shunt_cache_relieve(cache);
  check(allocated == 1, "and gets what is above an equal share: %d copies left", allocated);
  end_elsewhere(other, ends);
  close_cache();
  shunt_budget_close(shared);
  rmdir(folder);
}

int main(void)
{
  test_room();
  test_shared();
  test_pieces();
  test_spread();
  test_storm();
  test_told();
  test_turns();
  test_study();
  test_way();
  test_relief();
  test_stuck();
  test_memory();
  return check_finish();
}
