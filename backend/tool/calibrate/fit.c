/* fit.c: timings into the lines of a table.

   A line is fitted by the least error, no coefficient below 0, and `start` not below three quarters
   of the least time that it is fitted to: else it would go to 0 where few products are short.  Of
   cuSPARSE's on layers some are very short, and few matrices tell: there it is free.  The
   coefficients that the base has play no part.

   Estimates are, in the mean, as long as the times they are of.  By the least relative error alone
   they are not: one that is twice too long counts four times as much as one that is half as long,
   and lines whose cases scatter come out too fast.  So least squares are repeated, each case
   weighted by its time over the estimate before.  */
#include <math.h>
#include <stdlib.h>

#include "backend/tool/calibrate/calibrate.h"
#include "backend/tool/calibrate/least_squares.h"

_Static_assert((int)CALIBRATE_TERMS <= (int)LEAST_SQUARES_MOST,
               "all terms of a line can be solved");

static const double floor_share = 0.75, least_weight = 0.2;

/* What a case says of a line: terms, and their sum, as shares of its time. */
struct equation {
  int matrix;
  double us, sum, term[CALIBRATE_TERMS];
};

struct calibrate_fit {
  const struct calibrate_timings *timings;
  struct shunt_cost_table base;
  int count[CALIBRATE_LINES];
  struct equation *of[CALIBRATE_LINES];
};

/* The line that the case says something of by this way; -1: none. */
static int line_of(const struct calibrate_timings *t, const struct calibrate_case *c,
                   enum calibrate_way way, struct shunt_cost_table *scratch)
{
  const bool fits = way != CALIBRATE_BUNDLE || calibrate_is_open(t, c, way, CALIBRATE_DEFAULT);
  return c->us[way] > 0 && fits ? calibrate_line_of(t, c, way, scratch) : -1;
}

/* A place for one more; NULL: no memory. */
static struct equation *next_of(struct calibrate_fit *fit, int line)
{
  const int count = fit->count[line];
  if ((count & (count - 1)) == 0) {
    const size_t room = count ? 2 * (size_t)count : 1;
    struct equation *more = realloc(fit->of[line], room * sizeof *more);
    if (!more) return NULL;
    fit->of[line] = more;
  }
  return &fit->of[line][fit->count[line]++];
}

static bool add(struct calibrate_fit *fit, const struct calibrate_case *c, enum calibrate_way way)
{
  const int line = line_of(fit->timings, c, way, &fit->base);
  struct equation *e = line < 0 ? NULL : next_of(fit, line);
  if (!e) return line < 0;
  const double us = c->us[way];
  *e = (struct equation){.matrix = c->matrix, .us = us};
  e->sum = 1 - calibrate_features(fit->timings, c, line, &fit->base, e->term) / us;
  for (int i = 0; i < CALIBRATE_TERMS; i++) e->term[i] /= us;
  return true;
}

struct calibrate_fit *calibrate_fit_make(const struct calibrate_timings *t,
                                         const struct shunt_cost_table *base)
{
  struct calibrate_fit *fit = calloc(1, sizeof *fit);
  bool good = fit != NULL;
  if (good) fit->timings = t, fit->base = *base;
  for (int i = 0; good && i < t->count; i++)
    for (int way = 0; good && way < CALIBRATE_WAYS; way++) good = add(fit, &t->of[i], way);
  if (good) return fit;
  tool_say("out of memory");
  calibrate_fit_free(fit);
  return NULL;
}

void calibrate_fit_free(struct calibrate_fit *fit)
{
  for (int line = 0; fit && line < CALIBRATE_LINES; line++) free(fit->of[line]);
  free(fit);
}

/* Of those that say something of the line, but one; *least: their shortest time, us. */
static int count_matrices(const struct calibrate_fit *fit, int line, int without, double *least)
{
  bool seen[CALIBRATE_MOST_MATRICES] = {false};
  int matrices = 0;
  *least = 0;
  for (int i = 0; i < fit->count[line]; i++) {
    const struct equation *e = &fit->of[line][i];
    if (e->matrix == without) continue;
    matrices += !seen[e->matrix];
    seen[e->matrix] = true;
    if (*least == 0 || e->us < *least) *least = e->us;
  }
  return matrices;
}

/* Of an equation: the time over the estimate by c. */
static double weight_of(const struct equation *e, const double *c, int count)
{
  double estimate = 1 - e->sum;
  for (int i = 0; i < count; i++) estimate += c[i] * e->term[i];
  return fmin(fmax(1 / fmax(estimate, 1e-9), least_weight), 1 / least_weight);
}

/* Of `least`, the last term, and all others but the first: what is greater by c remains. */
static void keep_greater(struct equation *e, const double *c, int count)
{
  const int last = count - 1;
  double others = 0;
  for (int i = 1; i < last; i++) others += c[i] * e->term[i];
  if (others >= c[last] * e->term[last])
    e->term[last] = 0;
  else
    for (int i = 1; i < last; i++) e->term[i] = 0;
}

/* In the first round `least` is one of the sum's terms. */
static void solve(const struct calibrate_fit *fit, int line, int without, double floor, int count,
                  double c[CALIBRATE_TERMS])
{
  const bool bound = calibrate_has_least(line);
  const int rounds = bound ? 8 : 3;
  for (int round = 0; round < rounds; round++) {
    struct least_squares sum = {.right = {0}};
    for (int i = 0; i < fit->count[line]; i++) {
      struct equation e = fit->of[line][i];
      if (e.matrix == without) continue;
      if (bound && round > 0) keep_greater(&e, c, count);
      least_squares_add(&sum, e.term, count, e.sum, round > 0 ? weight_of(&e, c, count) : 1);
    }
    least_squares_solve(&sum, count, floor, c);
  }
}

void calibrate_fit_lines(const struct calibrate_fit *fit, int without, struct shunt_cost_table *out)
{
  *out = fit->base;
  for (int line = 0; line < CALIBRATE_LINES; line++) {
    double *place[CALIBRATE_TERMS], c[CALIBRATE_TERMS], least;
    if (count_matrices(fit, line, without, &least) < CALIBRATE_LEAST_MATRICES) continue;
    const int count = calibrate_places(line, out, place);
    solve(fit, line, without, calibrate_lines[line].layers ? 0 : floor_share * least, count, c);
    calibrate_put(line, out, c);
  }
}

/* ---- how far off ---------------------------------------------------------------------------- */

/* Of logarithms of the factors that cases are off by. */
struct squares {
  int cases;
  double sum;
};

/* Fewer cases do not say what layers are usually off. */
enum { LEAST_OFF = 60 };

static double deviation(struct squares s)
{
  return s.cases ? exp(sqrt(s.sum / s.cases)) : 0;
}

static void note(struct squares *s, double log_of)
{
  s->cases++;
  s->sum += log_of * log_of;
}

void calibrate_residuals(const struct calibrate_fit *fit, struct shunt_cost_table *t,
                         struct calibrate_residual of[CALIBRATE_LINES])
{
  struct squares line_off[CALIBRATE_LINES] = {{0}}, usual = {0}, preprocessed = {0}, layer = {0};
  double least;
  for (int i = 0; i < fit->timings->count; i++)
    for (int way = 0; way < CALIBRATE_WAYS; way++) {
      const struct calibrate_case *c = &fit->timings->of[i];
      const int line = line_of(fit->timings, c, way, t);
      if (line < 0) continue;
      const double off = log(calibrate_estimate(fit->timings, c, way, t) / c->us[way]);
      note(&line_off[line], off);
      const bool layers = calibrate_lines[line].layers;
      if (way == CALIBRATE_DEFAULT && c->type != SHUNT_F16 && layers) note(&layer, off);
      if (way == CALIBRATE_DEFAULT && !layers) note(&usual, off);
      if ((way == CALIBRATE_ALG1 || way == CALIBRATE_ALG3) && !layers) note(&preprocessed, off);
    }
  for (int line = 0; line < CALIBRATE_LINES; line++) {
    const int matrices = count_matrices(fit, line, -1, &least);
    const bool fitted = matrices >= CALIBRATE_LEAST_MATRICES;
    of[line] = (struct calibrate_residual){matrices, fitted ? line_off[line].cases : 0,
                                           deviation(line_off[line])};
  }
  if (usual.cases) t->original[0].off = deviation(usual);
  if (preprocessed.cases) t->original[0].preprocessed_off = deviation(preprocessed);
  if (layer.cases >= LEAST_OFF) t->original[0].layer_off = deviation(layer);
}

/* ---- versions ------------------------------------------------------------------------------- */

void calibrate_put_version_first(struct shunt_cost_table *t, int cusparse)
{
  const struct shunt_original_costs nearest = *shunt_costs_of_original(t, cusparse);
  int last = 0;
  while (last < SHUNT_MOST_ORIGINALS - 1 && t->cusparse[last] && t->cusparse[last] != cusparse)
    last++;
  for (int i = last; i > 0; i--) {
    t->cusparse[i] = t->cusparse[i - 1];
    t->original[i] = t->original[i - 1];
  }
  t->cusparse[0] = cusparse;
  t->original[0] = nearest;
}
