/* test_semiring_team.c: loops of a team whose threads need not all come (semiring_team.h).  This
   program stands in for libgomp's function that begins a region, so that it says when a helper
   comes.  */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/semiring/semiring_team.h"
#include "tests/unit/check.h"

enum { THREADS = 4, MOST_ITEMS = 5000 };

static _Thread_local int self;
static atomic_bool may_come; /* helpers begin no earlier */
static atomic_int regions;

/* Both are libgomp's, which is not linked where they are found here. */
int omp_get_thread_num(void);
void GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags);

int omp_get_thread_num(void)
{
  return self;
}

struct helper {
  void (*work)(void *);
  void *data;
  int id;
};

static void *come(void *helper)
{
  const struct helper *h = helper;
  self = h->id;
  while (!atomic_load(&may_come)) usleep(100);
  h->work(h->data);
  return NULL;
}

void GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags)
{
  pthread_t thread[THREADS];
  struct helper helper[THREADS];
  (void)flags;
  atomic_fetch_add(&regions, 1);
  for (int i = 1; i < (int)threads; i++) {
    helper[i] = (struct helper){work, data, i};
    if (pthread_create(&thread[i], NULL, come, &helper[i])) abort();
  }
  work(data);
  for (int i = 1; i < (int)threads; i++) pthread_join(thread[i], NULL);
}

/* ---- loops ----------------------------------------------------------------------------------- */

struct seen {
  int64_t n, each;
  int loops;
  atomic_int times[MOST_ITEMS];
  atomic_int here[THREADS]; /* steps that have this worker's number now */
  atomic_int wrong;
};

static void step(void *x, int64_t begin, int64_t end, int worker)
{
  struct seen *s = x;
  const bool known = worker >= 0 && worker < THREADS;
  if (!known || begin % s->each || end > s->n || begin >= end) atomic_fetch_add(&s->wrong, 1);
  if (known && atomic_fetch_add(&s->here[worker], 1)) atomic_fetch_add(&s->wrong, 1);
  for (int64_t i = begin; i < end; i++) atomic_fetch_add(&s->times[i], 1);
  if (begin % 64 == 0) usleep(10);
  if (known) atomic_fetch_sub(&s->here[worker], 1);
}

static void drive(void *x)
{
  struct seen *s = x;
  for (int loop = 0; loop < s->loops; loop++) {
    shunt_team_loop(THREADS, s->n, s->each, step, s);
    for (int64_t i = 0; i < s->n; i++)
      if (atomic_load(&s->times[i]) != loop + 1) atomic_fetch_add(&s->wrong, 1);
  }
  atomic_store(&may_come, true);
}

static int all_done_once(int threads, int64_t n, int64_t each, int loops)
{
  static struct seen s;
  memset(&s, 0, sizeof s);
  s.n = n, s.each = each, s.loops = loops;
  atomic_store(&regions, 0);
  shunt_team_run(threads, drive, &s);
  return atomic_load(&s.wrong) == 0;
}

static void test_loops(void)
{
  static const int64_t sizes[] = {0, 1, 7, 64, 1000, MOST_ITEMS};
  int good = 1;
  atomic_store(&may_come, true);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int64_t each = 1; each <= MOST_ITEMS; each *= 9)
      good = good && all_done_once(THREADS, sizes[i], each, 3) && regions == 1;
  check(good, "each item of each loop is done once, in one region");
  check(all_done_once(1, 100, 7, 2) && regions == 2 * 1, "outside of one each loop has its own");
}

static void test_late(void)
{
  atomic_store(&may_come, false);
  alarm(60); /* a loop that waits for helpers ends never */
  check(all_done_once(THREADS, 1000, 3, 20), "loops end though no helper has come");
  alarm(0);
}

/* ---- one thread or all ---------------------------------------------------------------------- */

static void forget(void)
{
  for (int i = 0; i < 64; i++) shunt_team_waited(0);
}

static void test_choice(void)
{
  const double ms = 1e6;
  forget();
  check(shunt_team_threads(8, ms) == 8, "threads that nobody holds up take part");
  check(shunt_team_threads(8, 1e3) == 1, "but not in what is done at once");
  shunt_team_waited(10 * ms);
  check(shunt_team_threads(8, ms) == 8, "one long wait may be chance");
  shunt_team_waited(10 * ms);
  check(shunt_team_threads(8, ms) == 1, "after two a short product is the caller's");
  check(shunt_team_threads(8, 50 * ms) == 8, "and a long one all threads'");
  int alone = 0;
  while (alone < 1000 && shunt_team_threads(8, ms) == 1) alone++;
  check(alone > 3 && alone < 20, "once as much is lost one is tried again, after %d", alone);
  shunt_team_waited(10 * ms);
  int longer = 0;
  while (longer < 1000 && shunt_team_threads(8, ms) == 1) longer++;
  check(longer > alone && longer < 4 * alone, "if it waits, too, the next after %d", longer);
  shunt_team_waited(ms / 10);
  check(shunt_team_threads(8, ms) == 8, "once a wait is short again, all take part");
}

int main(void)
{
  test_loops();
  test_late();
  test_choice();
  return check_finish();
}
