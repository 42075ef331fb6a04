/* semiring_wait.c: is a product worth threads that others may hold up (semiring_team.h)? */
#include <stdint.h>

#include "kernels/semiring/semiring_team.h"

/* Nanoseconds.  Threads may lose each other's changes: nothing but time depends on them. */
static int64_t last, before; /* what the last region waited, and the one before it */
static int64_t lost;         /* by products that were left to one thread since the last region */
static int doublings;

/* Shorter waits are those of threads that have cores of their own. */
enum { MOST_DOUBLINGS = 3, LEAST = 30 * 1000, IS_LONG = 500 * 1000, MOST = 20 * 1000 * 1000 };

#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)

/* That the next one is likely to wait: one alone was held up by chance. */
double shunt_team_wait(void)
{
  const int64_t a = GET(last), b = GET(before), less = a < b ? a : b;
  return less < IS_LONG ? 0 : (double)less;
}

/* One that fails is tried again after twice the loss. */
int shunt_team_threads(int wanted, double ns)
{
  const int64_t expected = (int64_t)shunt_team_wait();
  if (wanted <= 1 || ns < LEAST) return 1;
  const double gain = ns * (1 - 1.0 / wanted);
  if (gain >= (double)expected) return wanted;
  const int64_t sum = GET(lost) + (int64_t)gain;
  const bool again = sum >= expected << GET(doublings);
  SET(lost, again ? 0 : sum);
  return again ? wanted : 1;
}

void shunt_team_waited(double ns)
{
  const int64_t met = ns < MOST ? (int64_t)ns : MOST;
  const int twice = GET(doublings);
  const bool again = shunt_team_wait() > 0 && met >= IS_LONG;
  SET(doublings, !again ? 0 : twice < MOST_DOUBLINGS ? twice + 1 : twice);
  SET(before, GET(last));
  SET(last, met);
}
