/* semiring_wait.c: is a product worth threads that others may hold up (semiring_team.h)? */
#include <stdint.h>

#include "kernels/semiring/semiring_team.h"

/* Nanoseconds.  Threads may lose each other's changes: nothing but time depends on them. */
static int64_t wait; /* that the next region is likely to meet */
static int64_t lost; /* by products that were left to one thread since the last region */
static int doublings;

enum { MOST_DOUBLINGS = 3, LEAST = 30 * 1000, IS_LONG = 100 * 1000, MOST = 20 * 1000 * 1000 };

#define GET(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define SET(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)

double shunt_team_wait(void)
{
  return (double)GET(wait);
}

/* One that fails is tried again after twice the loss. */
int shunt_team_threads(int wanted, double ns)
{
  const int64_t expected = GET(wait);
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
  const int64_t met = ns < MOST ? (int64_t)ns : MOST, before = GET(wait);
  const int twice = GET(doublings);
  if (met < IS_LONG || met < before / 2)
    SET(doublings, 0);
  else if (before >= IS_LONG && twice < MOST_DOUBLINGS)
    SET(doublings, twice + 1);
  SET(wait, met > before ? met : (met + before) / 2);
}
