#include "backend/log/log_timeline.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { UNIT_SHIFT = 24, LINEAR = 64, PER_OCTAVE = 32, OCTAVES = 24 };
enum { BUCKETS = LINEAR + PER_OCTAVE * OCTAVES, ROUTES = 16 };

struct row {
  const char *route;
  struct {
    _Atomic uint64_t calls;
    _Atomic double us;
  } bucket[BUCKETS];
};
static _Atomic(struct row *) rows[ROUTES];
static _Atomic int64_t origin; /* nanoseconds of the clock at the first call; 0: none yet */

static int64_t nanoseconds(clockid_t clock)
{
  struct timespec t = {0};
  clock_gettime(clock, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Of a unit of 2^24 ns, 16.8 ms, after the origin. */
static int bucket_of(uint64_t unit)
{
  if (unit < LINEAR) return (int)unit;
  const int octave = 63 - __builtin_clzll(unit / LINEAR); /* unit is in [LINEAR, 2 LINEAR) << it */
  if (octave >= OCTAVES) return BUCKETS - 1;
  return LINEAR + PER_OCTAVE * octave + (int)((unit >> (octave + 1)) - LINEAR / 2);
}

/* The first unit of a bucket; the end of the one before. */
static uint64_t unit_of(int bucket)
{
  if (bucket < LINEAR) return (uint64_t)bucket;
  const int octave = (bucket - LINEAR) / PER_OCTAVE, i = (bucket - LINEAR) % PER_OCTAVE;
  return (uint64_t)(LINEAR / 2 + i) << (octave + 1);
}

/* The row of a route, made when it is first seen; NULL: no memory, or too many routes. */
static struct row *row_of(const char *route)
{
  for (int i = 0; i < ROUTES; i++) {
    struct row *row = atomic_load_explicit(&rows[i], memory_order_acquire);
    if (!row) {
      struct row *fresh = calloc(1, sizeof *fresh);
      if (!fresh) return NULL;
      fresh->route = route;
      if (atomic_compare_exchange_strong(&rows[i], &row, fresh))
        row = fresh;
      else
        free(fresh);
    }
    if (row->route == route) return row;
  }
  return NULL;
}

int64_t shunt_timeline_add(const char *route, uint64_t calls, double us)
{
  struct row *row = row_of(route);
  const int64_t now = nanoseconds(CLOCK_MONOTONIC_COARSE);
  if (!row) return now;
  int64_t start = 0;
  if (atomic_compare_exchange_strong(&origin, &start, now)) start = now;
  const int i = bucket_of(now > start ? (uint64_t)(now - start) >> UNIT_SHIFT : 0);
  atomic_fetch_add_explicit(&row->bucket[i].calls, calls, memory_order_relaxed);
  double old = atomic_load_explicit(&row->bucket[i].us, memory_order_relaxed);
  while (us > 0 && !atomic_compare_exchange_weak(&row->bucket[i].us, &old, old + us)) {
  }
  return now;
}

/* Seconds since the first call, and since 1970 at the first call. */
static double since_first(double *first)
{
  const double past = (double)(nanoseconds(CLOCK_MONOTONIC_COARSE) - atomic_load(&origin)) * 1e-9;
  *first = (double)nanoseconds(CLOCK_REALTIME) * 1e-9 - past;
  return past;
}

bool shunt_timeline_span(double *first, double *last)
{
  const double unit = (double)(1 << UNIT_SHIFT) * 1e-9;
  int highest = -1;
  for (int k = 0; k < ROUTES; k++) {
    struct row *row = atomic_load(&rows[k]);
    for (int i = highest + 1; row && i < BUCKETS; i++)
      if (atomic_load(&row->bucket[i].calls) > 0) highest = i;
  }
  const double past = since_first(first), end = unit * (double)unit_of(highest + 1);
  *last = *first + (end < past ? end : past);
  return highest >= 0;
}

/* The rows are not freed: fork's handlers may not. */
void shunt_timeline_forget(void)
{
  for (int k = 0; k < ROUTES; k++) atomic_store(&rows[k], NULL);
  atomic_store(&origin, 0);
}

void shunt_timeline_print(FILE *to)
{
  const double unit = (double)(1 << UNIT_SHIFT) * 1e-9;
  double first;
  since_first(&first);
  for (int k = 0; k < ROUTES; k++) {
    struct row *row = atomic_load(&rows[k]);
    for (int i = 0; row && i < BUCKETS; i++) {
      const uint64_t calls = atomic_load(&row->bucket[i].calls);
      const double us = atomic_load(&row->bucket[i].us);
      if (calls > 0 || us > 0)
        fprintf(to, "# time\t%s\t%.3f\t%.3f\t%" PRIu64 "\t%.1f\n", row->route,
                first + unit * (double)unit_of(i), first + unit * (double)unit_of(i + 1), calls,
                us);
    }
  }
}
