/* fit.c: timings into the lines of a table.

   A line is fitted by the least relative error, no coefficient below 0, and `start` not below three
   quarters of the least time that it is fitted to: else it would go to 0 where few products are
   short.  Of cuSPARSE's on layers some are very short, and few matrices tell: there it is free.
   The coefficients that the base has play no part.  */
#include <math.h>
#include <stdlib.h>

#include "backend/tool/calibrate/calibrate.h"
#include "backend/tool/calibrate/least_squares.h"

_Static_assert((int)CALIBRATE_TERMS <= (int)LEAST_SQUARES_MOST,
               "all terms of a line can be solved");

static const double floor_share = 0.75;

/* What one matrix says of a line. */
struct part {
  struct least_squares equations;
  double least; /* us; 0: it says nothing */
};

struct calibrate_fit {
  const struct calibrate_timings *timings;
  struct shunt_cost_table base;
  struct part part[]; /* [matrix * CALIBRATE_LINES + line] */
};

/* The line that the case says something of by this way; -1: none. */
static int line_of(const struct calibrate_timings *t, const struct calibrate_case *c,
                   enum calibrate_way way, struct shunt_cost_table *scratch)
{
  const bool fits = way != CALIBRATE_BUNDLE || calibrate_is_open(t, c, way, CALIBRATE_DEFAULT);
  return c->us[way] > 0 && fits ? calibrate_line_of(t, c, way, scratch) : -1;
}

static void add(struct calibrate_fit *fit, const struct calibrate_case *c, enum calibrate_way way)
{
  double f[CALIBRATE_TERMS], *place[CALIBRATE_TERMS];
  const int line = line_of(fit->timings, c, way, &fit->base);
  if (line < 0) return;
  struct part *p = &fit->part[c->matrix * CALIBRATE_LINES + line];
  const int count = calibrate_places(line, &fit->base, place);
  const double besides = calibrate_features(fit->timings, c, line, &fit->base, f);
  for (int i = 0; i < count; i++) f[i] /= c->us[way];
  least_squares_add(&p->equations, f, count, 1 - besides / c->us[way], 1);
  if (p->least == 0 || c->us[way] < p->least) p->least = c->us[way];
}

struct calibrate_fit *calibrate_fit_make(const struct calibrate_timings *t,
                                         const struct shunt_cost_table *base)
{
  const size_t parts = (size_t)t->matrices * CALIBRATE_LINES;
  struct calibrate_fit *fit = calloc(1, sizeof *fit + parts * sizeof fit->part[0]);
  if (!fit) {
    tool_say("out of memory");
    return NULL;
  }
  fit->timings = t;
  fit->base = *base;
  for (int i = 0; i < t->count; i++)
    for (int way = 0; way < CALIBRATE_WAYS; way++) add(fit, &t->of[i], way);
  return fit;
}

void calibrate_fit_free(struct calibrate_fit *fit)
{
  free(fit);
}

/* The sums of all matrices but one; the number of those that say something. */
static int gather(const struct calibrate_fit *fit, int line, int without, struct part *sum)
{
  int matrices = 0;
  *sum = (struct part){.least = 0};
  for (int m = 0; m < fit->timings->matrices; m++) {
    const struct part *p = &fit->part[m * CALIBRATE_LINES + line];
    if (m == without || p->least == 0) continue;
    least_squares_join(&sum->equations, &p->equations, 1);
    if (sum->least == 0 || p->least < sum->least) sum->least = p->least;
    matrices++;
  }
  return matrices;
}

void calibrate_fit_lines(const struct calibrate_fit *fit, int without, struct shunt_cost_table *out)
{
  *out = fit->base;
  for (int line = 0; line < CALIBRATE_LINES; line++) {
    struct part sum;
    double *place[CALIBRATE_TERMS], c[CALIBRATE_TERMS];
    if (gather(fit, line, without, &sum) < CALIBRATE_LEAST_MATRICES) continue;
    const int count = calibrate_places(line, out, place);
    const double floor = calibrate_lines[line].layers ? 0 : floor_share * sum.least;
    least_squares_solve(&sum.equations, count, floor, c);
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
  struct part sum;
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
    const int matrices = gather(fit, line, -1, &sum);
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
