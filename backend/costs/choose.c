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
  const struct shunt_rates *rates = of ? &of->ours.rates : &from->ours.rates;
  *out = *from;
  if (multiprocessors <= 0 || (of == from && multiprocessors == (int)rates->multiprocessors))
    return;
  const double part = rates->multiprocessors / multiprocessors;
  const struct shunt_rates *known = &from->ours.rates;
  const struct factors f = {known->copy / rates->copy * part, known->near / rates->near * part,
                            known->far / rates->far * part, known->tensor / rates->tensor * part};
  carry(out, &shunt_coefficients_ours, 0, &f);
  for (int i = 0; i < SHUNT_MOST_ORIGINALS && out->cusparse[i]; i++)
    carry(out, &shunt_coefficients_original, i, &f);
  out->ours.rates =
      (struct shunt_rates){multiprocessors, known->copy / f.copy, known->near / f.near,
                           known->far / f.far, known->tensor / f.tensor};
  snprintf(out->from, sizeof out->from, "carried over to %.60s by %s", gpu ? gpu : "this GPU",
           of ? "its rates" : "multiprocessors");
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
