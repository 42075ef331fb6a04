#include "backend/log/log_gain.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of 0 to SHUNT_GAIN_SAMPLES values, which it sorts: the mean of those in the middle, without a
   quarter of them at each end, and of three without two.  */
static double middle(double *x, int count)
{
  const int left = count == 3 ? 1 : count / 4;
  double sum = 0;
  if (count == 0) return 0;
  qsort(x, (size_t)count, sizeof *x, by_size);
  for (int i = left; i < count - left; i++) sum += x[i];
  return sum / (count - 2 * left);
}

/* How far that may be off, as a share of it: from the mean distance of the values to it, which
   count beside `known` others of a usual distance.  2.6 standard errors of values that nothing
   connects, as a machine is slow for more than a sample (test_log_gain.c); on a busy one it may be
   off by more.  */
static double error_of(const double *x, int count, double at)
{
  const double usual = 0.15, known = 2, normal = 1.2533, errors = 2.6;
  double distance = 0;
  if (count == 0 || !(at > 0)) return 0;
  for (int i = 0; i < count; i++) distance += normal * fabs(x[i] - at) / at / count;
  const double square = (known * usual * usual + count * distance * distance) / (known + count);
  return errors * sqrt(square / count);
}

struct shunt_gain_times shunt_gain_times(const struct shunt_gain_calls *c,
                                         const struct shunt_gain_sample *samples, int count)
{
  double original[SHUNT_GAIN_SAMPLES], ours[SHUNT_GAIN_SAMPLES], quotient[SHUNT_GAIN_SAMPLES];
  int paired = 0;
  for (int i = 0; i < count; i++) {
    const struct shunt_gain_sample *s = &samples[i];
    original[i] = s->original_us;
    ours[i] = s->ours_us;
    if (s->around_us > 0) quotient[paired++] = s->original_us / s->around_us;
  }
  struct shunt_gain_times t = {middle(original, count), middle(ours, count), 0};
  t.error_us = t.original_us * error_of(original, count, t.original_us);
  if (!(c->us > 0)) return t;
  t.ours_us = c->us / c->calls;
  if (paired == 0 || c->calls <= SHUNT_GAIN_FIRST) return t;
  const double times = middle(quotient, paired);
  t.original_us = times * (c->us - c->first_us) / (c->calls - SHUNT_GAIN_FIRST);
  t.error_us = t.original_us * error_of(quotient, paired, times);
  return t;
}

double shunt_gain_around(double before, double us)
{
  const double share = 1.0 / 4;
  return before > 0 ? before + share * (us - before) : us;
}
