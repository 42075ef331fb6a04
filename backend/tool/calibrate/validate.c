/* validate.c: what the choice between ways is worth, on matrices that took no part in the fit. */
#include <math.h>
#include <stdlib.h>

#include "backend/routes/cost/costs.h"
#include "backend/tool/calibrate/calibrate.h"

static const double beyond = 0.15, lost_below = 0.98;

/* ---- choices -------------------------------------------------------------------------------- */

/* The n-th way that may be taken and was measured; -1: there are no more. */
static int way_of(const struct calibrate_timings *of, const struct calibrate_case *c,
                  enum calibrate_way algorithm, int n)
{
  const int ways[] = {(int)algorithm, CALIBRATE_CSR, CALIBRATE_BUNDLE, CALIBRATE_SORTED};
  for (int i = 0; i < 4; i++)
    if (c->us[ways[i]] > 0 && calibrate_is_open(of, c, ways[i], algorithm) && n-- == 0)
      return ways[i];
  return -1;
}

enum calibrate_way calibrate_choose(const struct calibrate_timings *of,
                                    const struct calibrate_case *c, enum calibrate_way algorithm,
                                    const struct shunt_cost_table *t)
{
  enum calibrate_way best = algorithm;
  double best_us = INFINITY;
  for (int n = 0, way; (way = way_of(of, c, algorithm, n)) >= 0; n++) {
    const double us = calibrate_margin(of, c, way) * calibrate_estimate(of, c, way, t);
    if (us < best_us) best_us = us, best = way;
  }
  return best;
}

/* Those of one matrix's cases, or of all (-1), by one table. */
static void choose_all(const struct calibrate_timings *t, int matrix,
                       const struct shunt_cost_table *table, int *chosen)
{
  for (int i = 0; i < t->count; i++) {
    const struct calibrate_case *c = &t->of[i];
    if (matrix >= 0 && c->matrix != matrix) continue;
    for (int a = 0; a < CALIBRATE_ALGORITHMS; a++)
      chosen[i * CALIBRATE_ALGORITHMS + a] =
          c->us[a] > 0 ? (int)calibrate_choose(t, c, a, table) : -1;
  }
}

int *calibrate_choices(const struct calibrate_timings *t, const struct calibrate_fit *fit,
                       const struct shunt_cost_table *table)
{
  int *chosen = malloc((size_t)t->count * CALIBRATE_ALGORITHMS * sizeof *chosen);
  struct shunt_cost_table others;
  if (!chosen) {
    tool_say("out of memory");
    return NULL;
  }
  if (table) choose_all(t, -1, table, chosen);
  for (int m = 0; !table && fit && m < t->matrices; m++) {
    calibrate_fit_lines(fit, m, &others);
    choose_all(t, m, &others, chosen);
  }
  return chosen;
}

/* ---- regret --------------------------------------------------------------------------------- */

/* The least of all that could have been taken, with what the estimates rule out. */
static double least_of(const struct calibrate_timings *of, const struct calibrate_case *c,
                       enum calibrate_way algorithm)
{
  double least = c->us[algorithm];
  if (c->us[CALIBRATE_CSR] > 0) least = fmin(least, c->us[CALIBRATE_CSR]);
  if (c->us[CALIBRATE_BUNDLE] > 0 && calibrate_is_open(of, c, CALIBRATE_BUNDLE, algorithm))
    least = fmin(least, c->us[CALIBRATE_BUNDLE]);
  if (c->us[CALIBRATE_SORTED] > 0) least = fmin(least, c->us[CALIBRATE_SORTED]);
  return least;
}

static void count(struct calibrate_score *s, const struct calibrate_timings *t,
                  const struct calibrate_case *c, enum calibrate_way algorithm,
                  enum calibrate_way way)
{
  const double regret = c->us[way] / least_of(t, c, algorithm) - 1;
  const double gain = c->us[algorithm] / c->us[way];
  s->beyond += regret > beyond;
  s->lost += gain < lost_below;
  s->sum += regret;
  s->gain += log(gain);
  if (s->cases++ == 0 || gain < s->least) s->least = gain;
  if (regret <= s->worst) return;
  s->worst = regret;
  s->matrix = t->name[c->matrix];
  s->by = calibrate_way_words[way];
}

struct calibrate_score calibrate_score_of(const struct calibrate_timings *t, const int *chosen,
                                          enum calibrate_way algorithm, shunt_type type, int64_t n)
{
  struct calibrate_score s = {.matrix = "-", .by = "-"};
  for (int i = 0; i < t->count; i++) {
    const int way = chosen[i * CALIBRATE_ALGORITHMS + (int)algorithm];
    const struct calibrate_case *c = &t->of[i];
    if (way >= 0 && (n == 0 || (c->n == n && c->type == type))) count(&s, t, c, algorithm, way);
  }
  return s;
}

/* ---- words ---------------------------------------------------------------------------------- */

static const shunt_type types[] = {SHUNT_F16, SHUNT_F32, SHUNT_F64};

/* The least number of columns above `last`; 0: there is none. */
static int64_t next_n(const struct calibrate_timings *t, int64_t last)
{
  int64_t next = 0;
  for (int i = 0; i < t->count; i++)
    if (t->of[i].n > last && (next == 0 || t->of[i].n < next)) next = t->of[i].n;
  return next;
}

static void print_row(const char *algorithm, shunt_type type, int64_t n,
                      const struct calibrate_score *s)
{
  printf("%-9s %-4s %4d %6d %7.1f %8.1f %5.2f %6.2f %5d  %s, %s\n", algorithm,
         shunt_type_text(type), (int)n, s->cases, 100 * s->sum / s->cases, 100 * s->worst,
         exp(s->gain / s->cases), s->least, s->lost, s->matrix, s->by);
}

static void print_rows(const struct calibrate_timings *t, const int *chosen)
{
  puts("algorithm type    n  cases  mean %  worst %  gain  least  lost  the worst");
  for (int a = 0; a < CALIBRATE_ALGORITHMS; a++)
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
      for (int64_t n = 0; (n = next_n(t, n)) > 0;) {
        const struct calibrate_score s = calibrate_score_of(t, chosen, a, types[k], n);
        if (s.cases) print_row(calibrate_way_words[a], types[k], n, &s);
      }
}

/* Where a program asks for the algorithm that is the best for its case. */
static void print_over_best(const struct calibrate_timings *t, const int *chosen, shunt_type type)
{
  double sum = 0, least = INFINITY;
  int cases = 0, below = 0, far_below = 0;
  for (int i = 0; i < t->count; i++) {
    const struct calibrate_case *c = &t->of[i];
    int best = -1;
    for (int a = 0; a < CALIBRATE_ALGORITHMS; a++)
      if (c->us[a] > 0 && (best < 0 || c->us[a] < c->us[best])) best = a;
    if (best < 0 || c->type != type) continue;
    const double gain = c->us[best] / c->us[chosen[i * CALIBRATE_ALGORITHMS + best]];
    sum += log(gain);
    least = fmin(least, gain);
    below += gain < 1;
    far_below += gain < 0.9;
    cases++;
  }
  if (cases)
    printf("  over its best, %s: %.2f, least %.2f, below 1 in %d of %d, below 0.9 in %d\n",
           shunt_type_text(type), exp(sum / cases), least, below, cases, far_below);
}

double calibrate_print_regret(const struct calibrate_timings *t, const int *chosen, bool all)
{
  double sum = 0;
  int cases = 0;
  if (all) print_rows(t, chosen);
  for (int a = 0; a < CALIBRATE_ALGORITHMS; a++) {
    const struct calibrate_score s = calibrate_score_of(t, chosen, a, SHUNT_F32, 0);
    if (!s.cases) continue;
    printf("  %-8s %5d cases, mean regret %.2f %%, worst %.1f %% (%s, %s), beyond 15 %%: %d;\n"
           "           %.2f times as fast as it, below 0.98: %d\n",
           calibrate_way_words[a], s.cases, 100 * s.sum / s.cases, 100 * s.worst, s.matrix, s.by,
           s.beyond, exp(s.gain / s.cases), s.lost);
    sum += s.sum;
    cases += s.cases;
  }
  for (size_t k = 0; all && k < sizeof types / sizeof *types; k++)
    print_over_best(t, chosen, types[k]);
  return cases ? sum / cases : 0;
}
