/* cost_cases.h: what the tests of estimates share: the device that all figures were measured on,
   and how far an estimate may be off.  */
#ifndef COST_CASES_H
#define COST_CASES_H

#include "backend/plan/context.h"
#include "backend/plan/problem.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/route.h"
#include "tests/unit/check.h"

static const struct shunt_machine h200 = {{132, 90, 232448, 60 << 20}, &shunt_costs_h200};

/* By which factor two figures differ. */
static inline double within(double estimate, double measured)
{
  return estimate > measured ? estimate / measured : measured / estimate;
}

#endif
