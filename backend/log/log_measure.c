#include "backend/log/log_measure.h"

#include <stdatomic.h>
#include <time.h>

#include "backend/log/log_gain.h"
#include "backend/options/options.h"
#include "backend/plan/log.h"

#define SHARE 0.01
enum { KINDS = 512, PROBES = 8 };

/* Kinds that find no place are not timed. */
static struct {
  _Atomic uint64_t key; /* 0: free */
  _Atomic uint64_t calls, next;
  atomic_int samples;
} kinds[KINDS];

static _Atomic double spent; /* microseconds, with what is set aside */
static _Atomic double
    started; /* when the process was; microseconds of the clock; 0: not known yet */

static double now(void)
{
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double add_to_spent(double us)
{
  double old = atomic_load(&spent);
  while (!atomic_compare_exchange_weak(&spent, &old, old + us)) {
  }
  return old + us;
}

bool shunt_measure_wanted(void)
{
  return shunt_options()->measure && shunt_options()->report[0];
}

/* The kind's index, made if it is new; -1: there is no room near where it belongs. */
static int find(uint64_t key)
{
  const uint64_t start = key * UINT64_C(0x9E3779B97F4A7C15) >> 32;
  for (unsigned i = 0; i < PROBES; i++) {
    const int k = (int)((start + i) % KINDS);
    uint64_t there = atomic_load_explicit(&kinds[k].key, memory_order_relaxed);
    if (there == key ||
        (there == 0 &&
         (atomic_compare_exchange_strong(&kinds[k].key, &there, key) || there == key)))
      return k;
  }
  return -1;
}

static bool is_time_for(double spent_then)
{
  return spent_then <= SHARE * (now() - atomic_load(&started));
}

/* ---- who waits ------------------------------------------------------------------------------ */

/* One of the kinds that have had the fewest samples, and wait for time: a long call would wait for
   ever where short ones take what there is.  */
static struct {
  _Atomic uint64_t key; /* 0: nobody waits */
  atomic_int samples;
  _Atomic double until; /* then it is forgotten, unless it comes again */
} waiting;

/* Is it another, with fewer samples than these? */
static bool must_wait(uint64_t key, int samples, double clock)
{
  const uint64_t other = atomic_load(&waiting.key);
  return other && other != key && atomic_load(&waiting.samples) < samples &&
         clock < atomic_load(&waiting.until);
}

/* For a tenth of the run so far. */
static void wait_for_time(uint64_t key, int samples, double clock)
{
  const uint64_t other = atomic_load(&waiting.key);
  if (other && other != key && atomic_load(&waiting.samples) <= samples &&
      clock < atomic_load(&waiting.until))
    return;
  atomic_store(&waiting.samples, samples);
  atomic_store(&waiting.until, clock + 0.1 * (clock - atomic_load(&started)));
  atomic_store(&waiting.key, key);
}

/* ---- what is asked -------------------------------------------------------------------------- */

bool shunt_measure_due(uint64_t key, double us)
{
  double unset = 0;
  if (atomic_load(&started) == 0)
    atomic_compare_exchange_strong(&started, &unset, now() - 1e6 * shunt_process_seconds());
  const int k = find(key);
  if (k < 0) return false;
  const uint64_t call = atomic_fetch_add(&kinds[k].calls, 1) + 1;
  if (call < 2 || call < atomic_load(&kinds[k].next)) return false;
  const int samples = atomic_load(&kinds[k].samples);
  const double clock = now(), then = atomic_load(&spent) + us;
  if (call <= SHUNT_GAIN_FIRST && !is_time_for(then + 3 * us)) return false;
  if (must_wait(key, samples, clock)) return false;
  if (is_time_for(then)) return true;
  /* Nobody waits for longer than the process has run. */
  if (is_time_for(0.5 * then)) wait_for_time(key, samples, clock);
  return false;
}

int shunt_measure_begin(uint64_t key, double us)
{
  const int k = find(key);
  uint64_t waits = key;
  if (k < 0 || !(us >= 0)) return 0;
  if (!is_time_for(add_to_spent(us))) {
    add_to_spent(-us);
    return 0;
  }
  atomic_compare_exchange_strong(&waiting.key, &waits, 0);
  const int samples = atomic_fetch_add(&kinds[k].samples, 1) + 1;
  /* Of calls that differ in turns, both kinds. */
  const uint64_t calls = atomic_load(&kinds[k].calls);
  atomic_store(&kinds[k].next, calls + (calls + 1) / 2 + (uint64_t)(samples & 1));
  return samples;
}

int shunt_measure_count(uint64_t key)
{
  const int k = find(key);
  return k < 0 ? 0 : atomic_load(&kinds[k].samples);
}

void shunt_measure_end(double set_aside, double us)
{
  add_to_spent(us - set_aside);
}
