#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/costs/coefficients.h"
#include "backend/costs/machine.h"

/* How many times as long a time of each kind is on one GPU as on another. */
struct factors {
  double copy, near, far, tensor;
};

static double factor_of(const struct factors *f, enum shunt_cost_kind kind)
{
  switch (kind) {
  case SHUNT_COST_COPY: return f->copy;
  case SHUNT_COST_NEAR: return f->near;
  case SHUNT_COST_FAR: return f->far;
  case SHUNT_COST_TENSOR: return f->tensor;
  case SHUNT_COST_PER_COPY: return 1 / f->copy;
  case SHUNT_COST_PER_NEAR: return 1 / f->near;
  case SHUNT_COST_PER_FAR: return 1 / f->far;
  case SHUNT_COST_PER_TENSOR: return 1 / f->tensor;
  default: return 1;
  }
}

static void carry(struct shunt_cost_table *t, const struct shunt_coefficients *list, int original,
                  const struct factors *f)
{
  for (size_t i = 0; i < list->count; i++)
    *shunt_coefficient_in(t, &list->of[i], original) *= factor_of(f, list->of[i].kind);
}

static void carry_all(struct shunt_cost_table *t, const struct factors *f)
{
  struct shunt_rates *r = &t->ours.rates;
  carry(t, &shunt_coefficients_ours, 0, f);
  for (int i = 0; i < SHUNT_MOST_ORIGINALS && t->cusparse[i]; i++)
    carry(t, &shunt_coefficients_original, i, f);
  r->copy /= f->copy, r->near /= f->near, r->far /= f->far, r->tensor /= f->tensor;
}

/* ---- lines that a table has ----------------------------------------------------------------- */

/* Puts the lines that *from has, those with a number that is not 0, in the place of those of *t. */
static void take_lines(struct shunt_cost_table *t, int to, const struct shunt_cost_table *from,
                       int original, const struct shunt_coefficients *list)
{
  struct shunt_cost_table known = *from;
  for (size_t first = 0, i; first < list->count; first = i) {
    bool has = false;
    for (i = first; i < list->count && strcmp(list->of[i].line, list->of[first].line) == 0; i++)
      has = has || *shunt_coefficient_in(&known, &list->of[i], original) != 0;
    for (size_t c = first; has && c < i; c++)
      *shunt_coefficient_in(t, &list->of[c], to) =
          *shunt_coefficient_in(&known, &list->of[c], original);
  }
}

/* Versions that *t does not have are none that *from was fitted to. */
static void take_all_lines(struct shunt_cost_table *t, const struct shunt_cost_table *from)
{
  take_lines(t, 0, from, 0, &shunt_coefficients_ours);
  for (int i = 0; i < SHUNT_MOST_ORIGINALS && from->cusparse[i]; i++)
    for (int to = 0; to < SHUNT_MOST_ORIGINALS && t->cusparse[to]; to++)
      if (t->cusparse[to] == from->cusparse[i])
        take_lines(t, to, from, i, &shunt_coefficients_original);
}

/* ---- which table ---------------------------------------------------------------------------- */

static bool is_fitted(const struct shunt_cost_table *t)
{
  return t->ours.common.launch > 0;
}

/* The same chip as the table's, of which there may be a part only; NULL: none of that name. */
static const struct shunt_cost_table *named(const char *gpu)
{
  for (int i = 0; gpu && shunt_costs_built_in[i]; i++)
    if (strcmp(gpu, shunt_costs_built_in[i]->gpu) == 0) return shunt_costs_built_in[i];
  return NULL;
}

/* By the logarithms of the rates' ratios. */
static double distance(const struct shunt_rates *a, const struct shunt_rates *b)
{
  return fabs(log(a->copy / b->copy)) + fabs(log(a->near / b->near)) + fabs(log(a->far / b->far)) +
         fabs(log(a->tensor / b->tensor));
}

static const struct shunt_cost_table *nearest(const struct shunt_cost_table *to)
{
  const struct shunt_cost_table *best = NULL;
  for (int i = 0; shunt_costs_built_in[i]; i++) {
    const struct shunt_cost_table *t = shunt_costs_built_in[i];
    if (!is_fitted(t)) continue;
    if (!best || (to && distance(&t->ours.rates, &to->ours.rates) <
                            distance(&best->ours.rates, &to->ours.rates)))
      best = t;
  }
  return best;
}

void shunt_costs_choose(const char *gpu, int multiprocessors, struct shunt_cost_table *out)
{
  const struct shunt_cost_table *of = named(gpu), *from = of && is_fitted(of) ? of : nearest(of);
  *out = *from;
  if (of && of != from) {
    const struct shunt_rates *known = &from->ours.rates, *here = &of->ours.rates;
    const struct factors f = {known->copy / here->copy, known->near / here->near,
                              known->far / here->far, known->tensor / here->tensor};
    carry_all(out, &f);
    take_all_lines(out, of);
    memcpy(out->gpu, of->gpu, sizeof out->gpu);
    snprintf(out->from, sizeof out->from,
             "built in, by the rates of %.40s where it was not measured", from->gpu);
  }
  const double full = out->ours.rates.multiprocessors;
  if (multiprocessors <= 0 || (of && multiprocessors == (int)full)) return;
  const double part = full / multiprocessors;
  carry_all(out, &(struct factors){part, part, part, part});
  out->ours.rates.multiprocessors = multiprocessors;
  snprintf(out->from, sizeof out->from, "carried over to %.60s by multiprocessors",
           gpu ? gpu : "this GPU");
}

/* "vector.wide" and "vector_packed" are of vector. */
static bool is_of(const char *line, const char *route)
{
  const size_t length = strlen(route);
  return strncmp(line, route, length) == 0 && strchr("._", line[length]);
}

static bool has_lines(const struct shunt_cost_table *t, const char *route,
                      const struct shunt_coefficients *list)
{
  struct shunt_cost_table known = *t;
  for (size_t i = 0; i < list->count; i++)
    if (is_of(list->of[i].line, route) && *shunt_coefficient_in(&known, &list->of[i], 0) != 0)
      return true;
  return false;
}

bool shunt_costs_are_measured(const char *gpu, const char *route)
{
  const struct shunt_cost_table *t = named(gpu);
  return t && (is_fitted(t) || has_lines(t, route, &shunt_coefficients_ours) ||
               has_lines(t, route, &shunt_coefficients_original));
}

const struct shunt_original_costs *shunt_costs_of_original(const struct shunt_cost_table *t,
                                                           int cusparse)
{
  int best = 0;
  for (int i = 1; cusparse > 0 && i < SHUNT_MOST_ORIGINALS && t->cusparse[i]; i++)
    if (abs(t->cusparse[i] - cusparse) < abs(t->cusparse[best] - cusparse)) best = i;
  return &t->original[best];
}

void shunt_costs_describe(const struct shunt_cost_table *t, char text[SHUNT_COSTS_TEXT])
{
  int used = snprintf(text, SHUNT_COSTS_TEXT, "%s, cuSPARSE", t->gpu);
  for (int i = 0; i < SHUNT_MOST_ORIGINALS && t->cusparse[i]; i++)
    used += snprintf(text + used, SHUNT_COSTS_TEXT - (size_t)used, "%s %d.%d", i ? "," : "",
                     t->cusparse[i] / 10, t->cusparse[i] % 10);
  snprintf(text + used, SHUNT_COSTS_TEXT - (size_t)used, "; %s", t->from);
}
