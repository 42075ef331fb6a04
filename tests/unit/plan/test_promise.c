/* test_promise.c: what bufferSize answered: one problem, more problems than have room, answers that
   change, readers beside writers, and forked children.  */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/plan/promise.h"
#include "tests/unit/check.h"

#ifdef __SANITIZE_THREAD__ /* which sees one race, and none in a million calls of one thread */
enum { ROUNDS = 10000, ONE_THREAD = 0 };
#else
enum { ROUNDS = 100000, ONE_THREAD = 1 };
#endif

static const char libraries[2][4096];

/* The whole of what Shunt wants. */
static size_t answer(uint64_t key, size_t original, size_t own)
{
  return shunt_promise_make(
      key, &(struct shunt_promise_answer){libraries[0], original, own, .whole = true});
}
static size_t answer_short(uint64_t key, size_t original, size_t own)
{
  return shunt_promise_make(key,
                            &(struct shunt_promise_answer){libraries[0], original, own, false});
}

static void test_one(void)
{
  size_t bytes;
  char buffer[4096];
  check(shunt_promise_find(77).own_bytes == 0, "no promise before it is made");
  const size_t total = answer(77, 100, 1000);
  const struct shunt_promise p = shunt_promise_find(77);
  const char *w = shunt_promise_workspace(p, buffer + 8, &bytes);
  check(total >= 256 + 1000 && w >= buffer + 8 + 100, "ours lies behind the original's part");
  check(((uintptr_t)w & 255) == 0 && bytes >= 1000 && w + bytes <= buffer + 8 + total,
        "aligned, large enough, inside");
  check(answer(77, 100, 1000) == total, "the same question, the same answer");
  check(shunt_promise_workspace(p, NULL, &bytes) == NULL && bytes == 0, "no buffer, no workspace");
  check(answer(77, 10, 1000) == total, "an original that asks for less gets the same");
  check(answer(78, 5, 0) == 5, "nothing wanted leaves the original's answer");
  check(answer(79, 5, 3000) > 3000, "where less is wanted than before,");
  const size_t less = answer(79, 5, 1000);
  check(less < 3000 && shunt_promise_find(79).own_bytes <= less - 256, "less is promised,");
  check(answer(79, 5, 3000) == less, "and no more from then on");
  struct shunt_promise again;
  check(shunt_promise_again(77, 100, &again) && again.own_offset + again.own_bytes == total,
        "who asks again gets the same");
  check(!shunt_promise_again(77, 600, &again), "but not if the original asks for more,");
  check(!shunt_promise_again(76, 100, &again), "nor who asks for the first time");
  check(shunt_promise_again(78, 5, &again) && again.own_bytes == 0, "nothing is an answer, too");
  answer_short(75, 5, 1000);
  check(!shunt_promise_again(75, 5, &again), "an answer for want of room is none");
  check(shunt_promise_key(5, 0, NULL) != shunt_promise_key(5, 1, NULL) &&
            shunt_promise_key(0, 0, NULL),
        "two devices have promises of their own");
  check(shunt_promise_key(5, 0, libraries[0]) != shunt_promise_key(5, 0, libraries[1]),
        "and so have two libraries");
}

/* Sampled batches: every call another problem.  */
static void test_many(void)
{
  enum { MANY = 1000000, LAST = 20000 };
  bool made = true;
  int found = 0;
  for (uint64_t i = 1; i <= MANY; i++)
    made = made && answer(i * 0x9e3779b97f4a7c15u, 100, 1000) > 1000 &&
           shunt_promise_find(i * 0x9e3779b97f4a7c15u).own_bytes > 0;
  check(made, "each of %d problems in turn has its workspace", MANY);
  for (uint64_t i = MANY - LAST + 1; i <= MANY; i++)
    found += shunt_promise_find(i * 0x9e3779b97f4a7c15u).own_bytes > 0;
  check(found > LAST * 99 / 100, "the last %d still have (%d)", LAST, found);
}

/* Readers never see half of one promise and half of another: offset and bytes are made alike. */
static atomic_bool stop;
static void *write_promises(void *unused)
{
  for (uint64_t i = 1; !atomic_load(&stop); i = i % 64 + 1)
    answer(i * 8192 * 0x100000001u, (size_t)i * 256, (size_t)i * 256); /* all of one set */
  return unused;
}

static void test_readers(void)
{
  pthread_t writer;
  long seen = 0, torn = 0;
  atomic_store(&stop, false);
  pthread_create(&writer, NULL, write_promises, NULL);
  for (uint64_t round = 0; round < ROUNDS || (seen == 0 && round < 10000000); round++)
    for (uint64_t i = 1; i <= 64; i++) {
      const struct shunt_promise p = shunt_promise_find(i * 8192 * 0x100000001u);
      if (!p.own_bytes) continue;
      seen++;
      torn += p.own_bytes != p.own_offset + 256;
    }
  atomic_store(&stop, true);
  pthread_join(writer, NULL);
  check(torn == 0 && seen > 0, "a reader beside a writer sees whole promises (%ld seen)", seen);
}

/* A child of a process whose other thread holds the lock now and then. */
static void test_fork(void)
{
  enum { FORKS = 200 };
  pthread_t writer;
  int good = 0;
  atomic_store(&stop, false);
  pthread_create(&writer, NULL, write_promises, NULL);
  for (int i = 0; i < FORKS; i++) {
    int status = 1;
    const pid_t child = fork();
    if (child == 0) {
      alarm(300); /* it hangs */
      _exit(answer(1234567, 100, 1000) > 1000 ? 0 : 1);
    }
    good += child > 0 && waitpid(child, &status, 0) == child && status == 0;
  }
  atomic_store(&stop, true);
  pthread_join(writer, NULL);
  check(good == FORKS, "%d of %d forked children make promises", good, FORKS);
}

/* Problems that a set of the table has no room for, so that others go. */
static void forget_others(void)
{
  for (uint64_t i = 1; i < 300000; i++) answer(i * 0x2545f4914f6cdd1du, 100, 1000);
}

/* The buffer of a problem that was asked about while memory was short is about for good. */
static void test_short(void)
{
  const size_t less = answer_short(500, 100, 300);
  const size_t nothing = answer_short(501, 100, 0);
  forget_others();
  check(answer(500, 100, 100000) <= less && shunt_promise_find(500).own_bytes <= less - 256,
        "what was less than the whole stays less, whatever came between (%zu)", less);
  check(answer(501, 100, 100000) == nothing && shunt_promise_find(501).own_bytes == 0,
        "and nothing stays nothing");
  answer(502, 100, 1000);
  forget_others();
  check(shunt_promise_find(502).own_bytes == 0 && answer(502, 100, 1000) > 1000,
        "the whole is forgotten, and the same again");
}

/* Last: nothing of that library is forgotten from then on. */
static void test_void(void)
{
  const size_t total = answer(80, 100, 1000);
  check(total > 1000 && answer(80, 1000, 1000) == 1000,
        "an original that asks for more than before: void");
  check(shunt_promise_find(80).own_bytes == 0, "a void promise gives nothing");
  check(answer(80, 100, 1000) == 100, "and stays void");
  forget_others();
  check(answer(80, 100, 1000) == 100, "whatever comes after it");
  answer(81, 100, 1000);
  int kept = 0, others = 0;
  for (uint64_t i = 1; i < 20000; i++) {
    const uint64_t key = i * 0x9e3779b97f4a7c15u + 7;
    const struct shunt_promise_answer a = {libraries[1], 100, 1000, true};
    others += shunt_promise_make(key, &a) > 1000;
    kept += answer(key ^ 1, 100, 1000) > 1000;
  }
  check(kept == 0 && others == 0, "in a full table of such promises there is room for no other");
}

int main(void)
{
  test_one();
  if (ONE_THREAD) test_many();
  test_readers();
  test_fork();
  if (ONE_THREAD) {
    test_short();
    test_void();
  }
  return check_finish();
}
