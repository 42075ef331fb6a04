#include "backend/log/log_gain.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of 1 to SHUNT_GAIN_SAMPLES values, which it sorts; 0 of none. */
static double median(double *x, int count)
{
  if (count == 0) return 0;
  qsort(x, (size_t)count, sizeof *x, by_size);
  return 0.5 * (x[(count - 1) / 2] + x[count / 2]);
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
  struct shunt_gain_times t = {median(original, count), median(ours, count)};
  if (!(c->us > 0)) return t;
  t.ours_us = c->us / c->calls;
  if (paired > 0 && c->calls > SHUNT_GAIN_FIRST)
    t.original_us =
        median(quotient, paired) * (c->us - c->first_us) / (c->calls - SHUNT_GAIN_FIRST);
  return t;
}

double shunt_gain_around(double before, double us)
{
  const double share = 1.0 / 4;
  return before > 0 ? before + share * (us - before) : us;
}
