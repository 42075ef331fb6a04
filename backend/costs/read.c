#define _GNU_SOURCE /* strsep */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/costs/coefficients.h"
#include "backend/costs/machine.h"
#include "backend/options/plain_locale.h"
#include "backend/options/user_file.h"

#define HEAD "# shunt costs 1 "
#define BLANKS " \t\r\n"
enum { LINE = 1024 };

/* A finite number that is not negative, and nothing else. */
static bool number(const char *text, double *out)
{
  char *end;
  if (*text < '0' || *text > '9') return false;
  *out = strtod(text, &end);
  return *end == 0 && isfinite(*out);
}

/* "12.6": 126.  Later versions of cuSPARSE's have minors of one digit, too. */
static int version(const char *text)
{
  int major, minor;
  char rest;
  if (sscanf(text, "%3d.%1d%c", &major, &minor, &rest) != 2 || major < 1 || minor < 0) return 0;
  return 10 * major + minor;
}

/* Starts what the file says of one cuSPARSE: with what the nearest one takes. */
static bool start_original(struct shunt_cost_table *t, const struct shunt_cost_table *before,
                           int cusparse, int *original)
{
  const int next = *original + 1;
  if (cusparse == 0 || next >= SHUNT_MOST_ORIGINALS) return false;
  for (int i = 0; i < next; i++)
    if (t->cusparse[i] == cusparse) return false;
  for (int i = next; i < SHUNT_MOST_ORIGINALS; i++) t->cusparse[i] = 0;
  t->cusparse[next] = cusparse;
  t->original[next] = *shunt_costs_of_original(before, cusparse);
  *original = next;
  return true;
}

static const struct shunt_coefficient *find(const struct shunt_coefficients *list, const char *line,
                                            const char *name)
{
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->of[i].line, line) == 0 && strcmp(list->of[i].name, name) == 0)
      return &list->of[i];
  return NULL;
}

/* original: that the lines are of by now; -1: of none. */
static bool set(struct shunt_cost_table *t, int original, const char *line, const char *name,
                double value)
{
  const struct shunt_coefficient *c = find(&shunt_coefficients_ours, line, name);
  if (c) {
    *shunt_coefficient_in(t, c, 0) = value;
    return true;
  }
  c = find(&shunt_coefficients_original, line, name);
  if (!c || original < 0) return false;
  *shunt_coefficient_in(t, c, original) = value;
  return true;
}

static bool read_line(char *line, const struct shunt_cost_table *before, struct shunt_cost_table *t,
                      int *original)
{
  char *rest, *name, *value;
  double number_of;
  line[strcspn(line, "#")] = 0;
  const char *what = strtok_r(line, BLANKS, &rest);
  if (!what) return true;
  if (strcmp(what, "cusparse") == 0) {
    value = strtok_r(NULL, BLANKS, &rest);
    return value && !strtok_r(NULL, BLANKS, &rest) &&
           start_original(t, before, version(value), original);
  }
  int count = 0;
  for (; (name = strtok_r(NULL, BLANKS, &rest)); count++) {
    value = strtok_r(NULL, BLANKS, &rest);
    if (!value || !number(value, &number_of) || !set(t, *original, what, name, number_of))
      return false;
  }
  return count > 0;
}

static bool read_lines(FILE *f, struct shunt_cost_table *t)
{
  const struct shunt_cost_table before = *t;
  char line[LINE];
  int original = -1;
  while (fgets(line, sizeof line, f))
    if (!strchr(line, '\n') || !read_line(line, &before, t, &original)) return false;
  return true;
}

static bool is_signed(FILE *f, const char *signature)
{
  char line[LINE];
  const size_t head = strlen(HEAD), length = strlen(signature);
  return fgets(line, sizeof line, f) && strncmp(line, HEAD, head) == 0 &&
         strncmp(line + head, signature, length) == 0 && line[head + length] == '\n';
}

const char *shunt_costs_read(FILE *f, const char *signature, struct shunt_cost_table *t)
{
  struct shunt_cost_table fresh = *t;
  if (!is_signed(f, signature)) return "it is of another build, GPU or driver";
  const struct shunt_plain_locale plain = shunt_plain_locale_begin();
  const bool good = read_lines(f, &fresh);
  shunt_plain_locale_end(&plain);
  if (!good) return "a line of it is not understood";
  *t = fresh;
  return NULL;
}

const char *shunt_costs_open(const char *path, const char *signature, struct shunt_cost_table *t)
{
  const char *why;
  FILE *f = shunt_user_file_open(path, &why);
  if (!f) return why ? why : "there is none";
  why = shunt_costs_read(f, signature, t);
  fclose(f);
  if (!why) snprintf(t->from, sizeof t->from, "%.95s", path);
  return why;
}
