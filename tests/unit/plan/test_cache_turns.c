/* test_cache_turns.c: matrices that come in turn, and are more than have room: as many keep a copy
   as there is room for, the others go without, and nothing else happens any more.  The order is
   the worst for a cache that keeps what was used last.  */
#include "tests/unit/plan/cache_calls.h"

enum { MIB = 1 << 20, SMALL = 1000, LARGE = 10 * MIB - 256 /* three in a piece of the pool */ };

static struct {
  long products, hits, makes;
} seen;

/* A product as the planner has it run: from the copy, or else it may make one. */
static void product(int i, size_t bytes, double saves)
{
  const struct shunt_key k = key_of(i);
  const struct shunt_packed_request r = {
      .by = formats, .payload_bytes = bytes, .saves_us = saves, .makes_us = 4 * saves};
  const struct shunt_packed_use use = {.saved_us = saves};
  struct shunt_lookup l;
  struct shunt_cache_packed *made;
  shunt_cache_look_up(cache, &k, &l);
  seen.products++;
  if (l.packed[0].copy) {
    seen.hits += shunt_cache_packed_used(cache, l.packed[0].copy, &use, NULL) == SHUNT_OK;
  } else if (l.pack_wise && shunt_cache_packed_make(cache, &l, &r, NULL, &made) == SHUNT_OK) {
    shunt_cache_packed_built(cache, made, NULL);
    shunt_cache_packed_used(cache, made, &use, NULL);
    shunt_cache_packed_release(cache, made, false);
    seen.makes++;
  }
  shunt_lookup_release(cache, &l);
  if (shunt_cache_wants_relief(cache)) shunt_cache_relieve(cache);
}

/* Matrices `first` and on, so many times each in turn; every third saves three times as much, and
   every third twice, where they differ.  The device is behind by a round.  */
static void rounds(int first, int matrices, int count, size_t bytes, bool differ)
{
  for (int n = 0; n < count; n++) {
    for (int i = 0; i < matrices; i++) product(first + i, bytes, differ ? 10 * (1 + i % 3) : 10);
    pool_catches_up();
  }
}

static void watch(void)
{
  memset(&seen, 0, sizeof seen);
  looks = pieces_taken = 0;
}

static void test_settled(int64_t budget, int room, int matrices, size_t bytes, bool differ)
{
  open_cache(budget);
  pool_late = true;
  rounds(1, matrices, 300, bytes, differ);
  watch();
  rounds(1, matrices, 300, bytes, differ);
  const double share = (double)seen.hits / (double)seen.products;
  const double expected = (double)room / matrices;
  check(share > 0.95 * expected && share < 1.05 * expected,
        "%d matrices%s, %d have room: %.3f of the products have a copy (%.3f)", matrices,
        differ ? " that differ" : "", room, share, expected);
  check(seen.makes == 0, "and %ld are made in %ld products", seen.makes, seen.products);
  check(looks <= seen.products / 1000 + 1, "the device is looked at %d times", looks);
  check(pieces_taken == 0, "the pool takes %d pieces", pieces_taken);
  pool_late = false;
  pool_catches_up();
  close_cache();
}

/* Others come in their place. */
static void test_changed(int matrices, int others)
{
  enum { ROOM = 20, MOST = 32768 };
  open_cache(ROOM * (SMALL + 256));
  rounds(1, matrices, 300, SMALL, false);
  watch();
  rounds(1000, others, MOST / others, SMALL, false);
  watch();
  rounds(1000, others, 20, SMALL, false);
  const int expected = 20 * (others < ROOM ? others : ROOM);
  check(seen.hits >= expected * 9 / 10,
        "of %d in turn the room goes to %d others within %d calls (%ld of %d products)", matrices,
        others, MOST, seen.hits, expected);
  close_cache();
}

/* One that had none is multiplied far more often than the others from now on. */
static void test_favourite(void)
{
  enum { ROOM = 20, MATRICES = 80, MOST = 32768 };
  open_cache(ROOM * (SMALL + 256));
  rounds(1, MATRICES, 300, SMALL, false);
  watch();
  while (seen.products < MOST) {
    rounds(MATRICES, 1, 8, SMALL, false);
    rounds(1, MATRICES, 1, SMALL, false);
  }
  watch();
  rounds(MATRICES, 1, 8, SMALL, false);
  check(seen.hits == 8, "one that comes nine times as often has a copy within %d calls", MOST);
  close_cache();
}

/* Matrix 2, which misses far more than matrix 1 saves, takes the place of its copy, in which the
   last use was on `stream`.  How often memory was asked for.  */
static int take_place(cudaStream_t stream, bool late)
{
  const struct shunt_key first = key_of(1), second = key_of(2);
  const struct shunt_packed_use use = {.saved_us = 1};
  struct shunt_lookup l;
  open_cache(SMALL + 256);
  for (int i = 0; i < 2; i++) call_of(&first, NULL, 0, &l), call_of(&second, NULL, 0, &l);
  check(pack_of(&first, formats, SMALL, 1) == SHUNT_OK, "the first has a copy");
  shunt_cache_look_up(cache, &first, &l);
  shunt_cache_packed_used(cache, l.packed[0].copy, &use, stream);
  shunt_lookup_release(cache, &l);
  given = 0;
  busy = late;
  check(pack_of(&second, formats, SMALL, 1000) == SHUNT_OK && allocated == 1,
        "the second takes its place");
  const int asked = given;
  busy = false;
  check(call_of(&second, formats, 1000, &l) && !call_of(&first, formats, 1, &l), "and has it");
  close_cache();
  return asked;
}

static void test_place(void)
{
  cudaStream_t other = (cudaStream_t)(uintptr_t)8;
  check(take_place(NULL, true) == 0, "the memory itself, where uses are on the same stream");
  check(take_place(other, false) == 0, "or have ended");
  check(take_place(other, true) == 1, "but not while another stream may read it");
}

/* What does not come back from a device that is late is not asked after in each call. */
static void test_late(void)
{
  enum { CALLS = 2400 };
  check(shunt_cache_make(&cache, NULL, 32 * MIB, 64 * MIB) == SHUNT_OK, "a cache with two limits");
  allocated = 0;
  empty_pool();
  rounds(1, 6, 20, LARGE, false);
  available = (size_t)1 << 38; /* a quarter of the device: three of six copies are to go */
  busy = pool_late = true;
  watch();
  for (int i = 0; i < CALLS; i++) product(1 + i % 6, LARGE, 10);
  check(looks < CALLS / 32, "while the device is late it is looked at %d times in %d calls", looks,
        CALLS);
  available = (size_t)1 << 40;
  busy = pool_late = false;
  pool_catches_up();
  close_cache();
}

/* A call as the planner makes it with a matrix of which a study says that no copy pays: studied if
   it was not, the study dropped once it is read.  */
static int study_product(int i, size_t bytes)
{
  const struct shunt_key k = key_of(i);
  const struct shunt_packed_request r = {.study_for = formats, .payload_bytes = bytes};
  struct shunt_lookup l;
  struct shunt_cache_packed *made;
  bool studied = false;
  shunt_cache_look_up(cache, &k, &l);
  if (l.study_wise && !l.has_study)
    studied = shunt_cache_packed_make(cache, &l, &r, NULL, &made) == SHUNT_OK;
  if (studied) {
    shunt_cache_packed_built(cache, made, NULL);
    shunt_cache_packed_release(cache, made, false);
  }
  shunt_lookup_release(cache, &l);
  if (l.study) shunt_cache_packed_release(cache, l.study, true);
  return studied;
}

/* Room for few studies beside the copies: they do not take turns, since none would ever be read,
   and a matrix is studied once. */
static void test_studies(void)
{
  enum { ROOM = 20, COPIES = 18, MATRICES = 40, ROUNDS = 1500 };
  int studies = 0;
  open_cache(ROOM * (SMALL + 256));
  rounds(1, COPIES, 300, SMALL, false);
  for (int n = 0; n < ROUNDS; n++) {
    for (int i = 0; i < MATRICES; i++) studies += study_product(1000 + i, SMALL);
    rounds(1, COPIES, 1, SMALL, false);
  }
  check(studies == MATRICES,
        "%d matrices are studied once each, where two have room at a time (%d)", MATRICES, studies);
  close_cache();
}

/* A study that makes way for a copy has told what it found. */
static void test_study_gives_way(void)
{
  const struct shunt_key studied = key_of(1), favourite = key_of(2);
  struct shunt_lookup l;
  open_cache(SMALL + 256);
  for (int i = 0; i < 2; i++) call_of(&favourite, NULL, 0, &l);
  check(study_product(1, SMALL) + study_product(1, SMALL) == 1, "a study fills the room");
  check(pack_of(&favourite, formats, SMALL, 1000) == SHUNT_OK, "a copy takes its place");
  shunt_cache_look_up(cache, &studied, &l);
  check(l.has_study && !l.study, "what the study found is known, its memory is not there any more");
  shunt_lookup_release(cache, &l);
  close_cache();
}

/* One that has not told yet stays, however much a copy is worth. */
static void test_study_under_way_stays(void)
{
  const struct shunt_key favourite = key_of(2);
  struct shunt_lookup l;
  open_cache(SMALL + 256);
  for (int i = 0; i < 2; i++) call_of(&favourite, NULL, 0, &l);
  copies_late = true;
  check(study_product(1, SMALL) + study_product(1, SMALL) == 1, "a study is under way");
  copies_late = false;
  check(pack_of(&favourite, formats, SMALL, 1000) == SHUNT_E_MEMORY, "no copy takes its place");
  close_cache();
}

int main(void)
{
  enum { ROOM = 20, OF_PIECES = 6 };
  static const double times[] = {1.2, 2, 4, 16};
  for (int i = 0; i < 4; i++) {
    test_settled(ROOM * (SMALL + 256), ROOM, (int)(ROOM * times[i]), SMALL, false);
    test_settled(ROOM * (SMALL + 256), ROOM, (int)(ROOM * times[i]), SMALL, true);
    test_settled(64 * MIB, OF_PIECES, (int)(OF_PIECES * times[i] + 0.5), LARGE, true);
  }
  test_changed(40, 40);
  test_changed(320, 40);
  test_changed(40, 10);
  test_favourite();
  test_place();
  test_studies();
  test_study_gives_way();
  test_study_under_way_stays();
  test_late();
  return check_finish();
}
