/* find.c: which table counts for the GPU at hand: the one that the user names, else the one that
   shunt calibrate left for this machine, else one that is built in.  */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backend/costs/machine.h"
#include "backend/options/user_file.h"
#include "backend/options/user_folder.h"

/* `gpu` as a file's name, behind `folder`. */
static bool name_file(const char *folder, const char *gpu, char path[PATH_MAX])
{
  const int length = snprintf(path, PATH_MAX, "%s/%s.costs", folder, gpu);
  if (length >= PATH_MAX) return false;
  for (char *c = path + strlen(folder) + 1; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '.') *c = '_';
  return true;
}

bool shunt_costs_calibrated_path(const char *gpu, char path[PATH_MAX])
{
  char folder[PATH_MAX];
  return gpu && gpu[0] && shunt_user_folder(folder) && name_file(folder, gpu, path);
}

static const char *folder_objection(void)
{
  char folder[PATH_MAX];
  return shunt_user_folder(folder) ? shunt_user_folder_objection(folder) : NULL;
}

/* NULL: *t is the calibrated table, or there is none; else why it does not count. */
static const char *take_calibrated(const struct shunt_costs_here *here, struct shunt_cost_table *t)
{
  char path[PATH_MAX];
  struct shunt_cost_table fresh = *t;
  const char *why;
  if (!here->signature || !shunt_costs_calibrated_path(here->gpu, path)) return NULL;
  FILE *f = shunt_user_file_open(path, &why);
  if (!f) return why;
  why = folder_objection();
  if (!why) why = shunt_costs_read(f, here->signature, &fresh);
  fclose(f);
  if (!why && (int)fresh.ours.rates.multiprocessors != here->multiprocessors)
    why = "it is for another number of multiprocessors";
  if (why) return why;
  snprintf(fresh.gpu, sizeof fresh.gpu, "%.63s", here->gpu);
  snprintf(fresh.from, sizeof fresh.from, "calibrated, %.80s", path);
  *t = fresh;
  return NULL;
}

struct shunt_costs_refused shunt_costs_find(const struct shunt_costs_here *here,
                                            struct shunt_cost_table *out)
{
  struct shunt_costs_refused refused = {NULL, NULL};
  shunt_costs_choose(here->gpu, here->multiprocessors, out);
  if (here->named && here->named[0]) {
    refused.named = here->signature ? shunt_costs_open(here->named, here->signature, out)
                                    : "the GPU does not answer";
    if (!refused.named) return refused;
  }
  refused.calibrated = take_calibrated(here, out);
  return refused;
}
