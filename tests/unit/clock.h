/* clock.h: the clock of a test and of the processes that it forks.

   It goes on when the test says so (clock_pass) and when somebody sleeps: the sleeper passes the
   time that it asked for, and lets others run for a moment.  So nothing lapses because the machine
   is busy.  To be included once in a program.  */
#ifndef CLOCK_H
#define CLOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t *clock_ns;

__attribute__((constructor(101))) static void clock_start(void)
{
  void *shared =
      mmap(NULL, sizeof *clock_ns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  clock_ns = shared;
  *clock_ns = INT64_C(1000000000000);
}

static inline void clock_pass(int64_t ms)
{
  atomic_fetch_add(clock_ns, ms * 1000000);
}
static inline int64_t clock_ms(void)
{
  return atomic_load(clock_ns) / 1000000;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
  const int64_t now = atomic_load(clock_ns);
  (void)clock;
  *t = (struct timespec){now / 1000000000, now % 1000000000};
  return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
  (void)left;
  atomic_fetch_add(clock_ns, (int64_t)wanted->tv_sec * 1000000000 + wanted->tv_nsec);
  return usleep(1000);
}

#endif
