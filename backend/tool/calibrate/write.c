/* write.c: a table as text (backend/costs/read.c reads it), into the user's folder.

   All of it is written, what was fitted and what was carried over, so that it says the same
   wherever it is read.  */
#include <math.h>
#include <string.h>
#include <time.h>

#include "backend/costs/coefficients.h"
#include "backend/options/user_file.h"
#include "backend/options/user_folder.h"
#include "backend/tool/calibrate/calibrate.h"

/* As make_built_in.awk wants it, too: no sign in an exponent that is positive. */
static void print_number(FILE *to, double x)
{
  char text[40];
  snprintf(text, sizeof text, "%.6g", x);
  char *plus = strchr(text, '+');
  if (plus) memmove(plus, plus + 1, strlen(plus));
  fputs(text, to);
}

/* What the terms of a table's line were fitted to. */
static void print_residuals(FILE *to, const struct calibrate_table *t, const char *name)
{
  for (int i = 0; i < CALIBRATE_LINES; i++) {
    const struct calibrate_line *l = &calibrate_lines[i];
    const struct calibrate_residual *r = &t->residual[i];
    if (strcmp(l->name, name) != 0 || !r->cases) continue;
    fprintf(to, "# %d cases of %d matrices, %.2f off.\n", r->cases, r->matrices, r->off);
  }
}

static void print_list(FILE *to, const struct calibrate_table *t,
                       const struct shunt_coefficients *list, int original)
{
  enum { IN_A_LINE = 4 };
  struct shunt_cost_table costs = *t->costs;
  const char *last = "";
  int in_line = 0;
  for (size_t i = 0; i < list->count; i++) {
    const struct shunt_coefficient *c = &list->of[i];
    const bool fresh = strcmp(c->line, last) != 0;
    if (fresh || in_line == IN_A_LINE) {
      if (i) fputc('\n', to);
      if (fresh && original <= 0) print_residuals(to, t, c->line);
      fprintf(to, "%-22s", c->line);
      in_line = 0;
    }
    fprintf(to, "  %s ", c->name);
    print_number(to, *shunt_coefficient_in(&costs, c, original < 0 ? 0 : original));
    last = c->line;
    in_line++;
  }
  fputc('\n', to);
}

static void print_table(FILE *to, void *of)
{
  const struct calibrate_table *t = of;
  char date[32] = "";
  const time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "%Y-%m-%d", &utc);
  fprintf(to, "# shunt costs 1 %s\n#\n", t->timings->signature);
  fprintf(
      to,
      "# Fitted by shunt calibrate on %s to %d cases of %d matrices: the lines that say so, and\n"
      "# what the first cuSPARSE is off.  The other lines: %s.\n\n",
      date, t->timings->count, t->timings->matrices, t->costs->from);
  print_list(to, t, &shunt_coefficients_ours, -1);
  for (int i = 0; i < SHUNT_MOST_ORIGINALS && t->costs->cusparse[i]; i++) {
    fprintf(to, "\ncusparse %d.%d\n", t->costs->cusparse[i] / 10, t->costs->cusparse[i] % 10);
    print_list(to, t, &shunt_coefficients_original, i);
  }
}

/* NULL: `path` is where the table goes; else why it cannot go there. */
static const char *find_place(const struct calibrate_timings *t, char path[PATH_MAX])
{
  char folder[PATH_MAX];
  if (!shunt_user_folder(folder) || !shunt_costs_calibrated_path(t->gpu, path))
    return "neither XDG_CACHE_HOME nor HOME names a folder (-o FILE writes it elsewhere)";
  return shunt_user_folder_make(folder);
}

bool calibrate_write(const struct calibrate_table *t, const char *path)
{
  char found[PATH_MAX] = "";
  const char *why = path ? NULL : find_place(t->timings, found);
  const char *to = path ? path : found;
  if (why) {
    tool_say("%s%sthe table is not written: %s", to, *to ? ": " : "", why);
    return false;
  }
  if (!shunt_user_file_write(to, print_table, (void *)t)) {
    tool_say("%s: the table could not be written", to);
    return false;
  }
  printf("the table is %s\n", to);
  return true;
}
