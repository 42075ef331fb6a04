/* doctor_costs.c: the table of costs that ways would be chosen by. */
#include <stdlib.h>

#include "backend/costs/machine.h"
#include "backend/tool/doctor/doctor.h"

void doctor_describe_costs(struct doctor *d)
{
  const char *path = getenv("SHUNT_COSTS"), *why = NULL;
  char signature[384], text[SHUNT_COSTS_TEXT];
  struct shunt_cost_table t;
  if (!d->wants[DOCTOR_CUSPARSE]) return;
  shunt_costs_choose(d->gpu[0] ? d->gpu : NULL, d->multiprocessors, &t);
  snprintf(signature, sizeof signature, "build=%s gpu=%s driver=%d", PACKAGE_VERSION, d->gpu,
           d->driver_cuda);
  if (path && *path) why = shunt_costs_open(path, signature, &t);
  if (why)
    doctor_find(&d->findings, DOCTOR_WARNING, "cost",
                "write it on this machine, in the form that shunt-env(7) has, or unset SHUNT_COSTS",
                "SHUNT_COSTS=%s is not used: %s", path, why);
  shunt_costs_describe(&t, text);
  doctor_find(&d->findings, DOCTOR_NOTE, "cost", NULL, "ways are chosen by the table of %s", text);
}
