/* doctor_costs.c: the table of costs that ways would be chosen by. */
#include <stdlib.h>
#include <string.h>

#include "backend/costs/machine.h"
#include "backend/tool/doctor/doctor.h"

void doctor_describe_costs(struct doctor *d)
{
  char signature[384], text[SHUNT_COSTS_TEXT], path[PATH_MAX] = "";
  struct shunt_cost_table t;
  if (!d->wants[DOCTOR_CUSPARSE]) return;
  snprintf(signature, sizeof signature, "build=%s gpu=%s driver=%d", PACKAGE_VERSION, d->gpu,
           d->driver_cuda);
  const struct shunt_costs_here here = {.gpu = d->gpu[0] ? d->gpu : NULL,
                                        .multiprocessors = d->multiprocessors,
                                        .signature = signature,
                                        .named = getenv("SHUNT_COSTS")};
  const struct shunt_costs_refused refused = shunt_costs_find(&here, &t);
  if (refused.named)
    doctor_find(&d->findings, DOCTOR_WARNING, "cost",
                "write it on this machine, in the form that shunt-env(7) has, or unset SHUNT_COSTS",
                "SHUNT_COSTS=%s is not used: %s", here.named, refused.named);
  if (refused.calibrated && shunt_costs_calibrated_path(here.gpu, path))
    doctor_find(&d->findings, DOCTOR_WARNING, "cost", "run shunt calibrate anew, or remove it",
                "the calibrated table %s is not used: %s", path, refused.calibrated);
  shunt_costs_describe(&t, text);
  const bool carried = d->gpu[0] && strncmp(t.from, "carried over", 12) == 0;
  doctor_find(&d->findings, DOCTOR_NOTE, "cost", NULL, "ways are chosen by the table of %s%s", text,
              carried ? "; shunt calibrate makes one of this GPU" : "");
}
