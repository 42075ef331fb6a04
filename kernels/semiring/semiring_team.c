/* semiring_team.c: one parallel region for all loops of a product (semiring_team.h). */
#ifdef __linux__
#define _GNU_SOURCE 1
#endif
#include "kernels/semiring/semiring_team.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "kernels/semiring/semiring_operands.h"

enum { SPINS = 8192, SPINS_HELD_UP = 256, SHARES = 8, MOST_FEW = 32 };
static const double held_up = 1e6;      /* ns: threads wait for cores */
static const double balance = 1.0 / 16; /* of a region: shares are not equal */
static const uint64_t over = UINT64_MAX, few = UINT64_C(1) << 63;

struct team {
  /* The loop's number in the upper half; in the lower one the tasks that nobody has taken: their
     number, or of few a bit for each.  */
  _Alignas(64) uint64_t word;
  _Alignas(64) uint32_t posts, done; /* counted up; slept on */
  uint32_t sleepers, caller_sleeps;
  /* The loop; whoever has taken a task may read it. */
  int64_t n, each;
  uint32_t tasks;
  shunt_team_step step;
  void *x;
  int threads, spins;
  double waited;
};

/* The team that this thread drives. */
static _Thread_local struct team *driven __attribute__((tls_model("initial-exec")));

static double now(void)
{
  struct timespec t;
  if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) return 0;
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void pause_briefly(void)
{
#ifdef SHUNT_SEMIRING_X86
  __builtin_ia32_pause();
#endif
}

/* Until *word is no longer `seen`, or for no reason. */
static void sleep_on(uint32_t *word, uint32_t seen)
{
#ifdef __linux__
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
#else
  (void)word, (void)seen;
  sched_yield();
#endif
}

static void wake(uint32_t *word)
{
#ifdef __linux__
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
#else
  (void)word;
#endif
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Tasks that a thread has taken: so many from `first` on; none: 0. */
struct taken {
  uint32_t first, tasks;
};

/* Of few tasks its own, the data of which it may have at hand, or else the first that is left; of
   many some at once, so that threads meet less often.  */
static struct taken choose(const struct team *t, uint64_t word, int worker)
{
  const uint32_t left = (uint32_t)word;
  if (word == over || left == 0) return (struct taken){0, 0};
  if (!(word & few)) return (struct taken){left, 1 + left / (SHARES * (uint32_t)t->threads)};
  const bool own = worker < MOST_FEW && (left >> worker & 1);
  return (struct taken){own ? (uint32_t)worker : (uint32_t)__builtin_ctz(left), 1};
}

static struct taken take(struct team *t, int worker)
{
  uint64_t word = __atomic_load_n(&t->word, __ATOMIC_ACQUIRE), next;
  struct taken x;
  do {
    x = choose(t, word, worker);
    if (!x.tasks) return x;
    next = word & few ? word & ~(UINT64_C(1) << x.first) : word - x.tasks;
  } while (!__atomic_compare_exchange_n(&t->word, &word, next, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
  if (!(word & few)) x.first = t->tasks - x.first;
  return x;
}

/* Takes tasks and does them.  As long as one that was taken is not counted there is no other loop:
   what is read here does not change.  */
static void work(struct team *t, int worker)
{
  uint32_t done = 0;
  for (struct taken x = take(t, worker); x.tasks; x = take(t, worker)) {
    const int64_t begin = x.first * t->each, rest = t->n - begin, mine = x.tasks * t->each;
    t->step(t->x, begin, begin + (rest < mine ? rest : mine), worker);
    done += x.tasks;
  }
  if (!done) return;
  __atomic_fetch_add(&t->done, done, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&t->caller_sleeps, __ATOMIC_SEQ_CST)) wake(&t->done);
}

/* Something to take, or the end. */
static bool has_news(const struct team *t)
{
  return (uint32_t)__atomic_load_n(&t->word, __ATOMIC_ACQUIRE) != 0;
}

static void wait_for_news(struct team *t)
{
  for (int spin = 0; spin < t->spins; spin++) {
    if (has_news(t)) return;
    pause_briefly();
  }
  __atomic_fetch_add(&t->sleepers, 1, __ATOMIC_SEQ_CST);
  const uint32_t seen = __atomic_load_n(&t->posts, __ATOMIC_SEQ_CST);
  if (!has_news(t)) sleep_on(&t->posts, seen);
  __atomic_fetch_sub(&t->sleepers, 1, __ATOMIC_SEQ_CST);
}

static void help(struct team *t, int worker)
{
  while (__atomic_load_n(&t->word, __ATOMIC_ACQUIRE) != over) {
    work(t, worker);
    wait_for_news(t);
  }
}

/* ---- the caller ------------------------------------------------------------------------------ */

static void post(struct team *t, uint64_t word)
{
  __atomic_store_n(&t->word, word, __ATOMIC_RELEASE);
  __atomic_fetch_add(&t->posts, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&t->sleepers, __ATOMIC_SEQ_CST)) wake(&t->posts);
}

static bool is_done(const struct team *t)
{
  return __atomic_load_n(&t->done, __ATOMIC_ACQUIRE) == t->tasks;
}

/* For tasks that helpers have. */
static void wait_for_tasks(struct team *t)
{
  const double begin = now();
  for (int spin = 0; spin < t->spins && !is_done(t); spin++) pause_briefly();
  while (!is_done(t)) {
    __atomic_store_n(&t->caller_sleeps, 1, __ATOMIC_SEQ_CST);
    const uint32_t seen = __atomic_load_n(&t->done, __ATOMIC_SEQ_CST);
    if (seen != t->tasks) sleep_on(&t->done, seen);
  }
  __atomic_store_n(&t->caller_sleeps, 0, __ATOMIC_SEQ_CST);
  t->waited += now() - begin;
}

static void drive_loop(struct team *t, int64_t n, int64_t each, shunt_team_step step, void *x)
{
  const uint64_t number = (__atomic_load_n(&t->word, __ATOMIC_RELAXED) >> 32) + 1;
  t->n = n, t->each = each, t->step = step, t->x = x;
  t->tasks = (uint32_t)((n + each - 1) / each);
  __atomic_store_n(&t->done, 0, __ATOMIC_RELAXED);
  if (t->tasks <= MOST_FEW)
    post(t, few | number << 32 | UINT32_MAX >> (MOST_FEW - t->tasks));
  else
    post(t, (number << 32 & ~few) | t->tasks);
  work(t, 0);
  if (!is_done(t)) wait_for_tasks(t);
}

/* ---- regions --------------------------------------------------------------------------------- */

static int number_of_thread(void)
{
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

static void run_region(int threads, void (*drive)(void *), void *x)
{
  struct team t = {.threads = threads,
                   .spins = shunt_team_wait() > held_up ? SPINS_HELD_UP : SPINS};
  const double begin = now();
  double left = begin;
  SHUNT_OMP(omp parallel num_threads(threads))
  if (number_of_thread() == 0) {
    t.waited = now() - begin;
    driven = &t;
    drive(x);
    driven = NULL;
    post(&t, over);
    left = now();
  } else {
    help(&t, number_of_thread());
  }
  const double end = now();
  shunt_team_waited(t.waited + (end - left) - balance * (end - begin));
}

void shunt_team_run(int threads, void (*drive)(void *), void *x)
{
  if (threads > 1 && !driven)
    run_region(threads, drive, x);
  else
    drive(x);
}

struct loop {
  int64_t n, each;
  shunt_team_step step;
  void *x;
};

static void drive_one(void *x)
{
  const struct loop *l = x;
  if (driven)
    drive_loop(driven, l->n, l->each, l->step, l->x);
  else
    l->step(l->x, 0, l->n, 0);
}

void shunt_team_loop(int threads, int64_t n, int64_t each, shunt_team_step step, void *x)
{
  struct loop loop = {n, each, step, x};
  if (n <= 0) return;
  if (n <= each)
    step(x, 0, n, 0);
  else
    shunt_team_run(threads, drive_one, &loop);
}

int shunt_team_workers(int threads)
{
  return driven ? driven->threads : threads > 1 ? threads : 1;
}
