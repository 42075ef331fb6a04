/* doctor_settings.c: what is set, in the environment or the file of SHUNT_CONFIG, and the files
   that it names.

   Settings are read as the libraries read them (backend/options/options.h), so what counts here
   counts there.  Below another root the file is that root's.  */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/options/user_file.h"
#include "backend/tool/doctor/doctor.h"

/* ---- reading -------------------------------------------------------------------------------- */

/* Takes the root's name out of a text. */
static void hide_root(const struct doctor *d, char *text)
{
  const size_t n = strlen(d->root);
  for (char *at = n ? strstr(text, d->root) : NULL; at; at = strstr(at, d->root))
    memmove(at, at + n, strlen(at + n) + 1);
}

/* Lines "shunt: ...", one for each thing that is not understood. */
static void add_complaints(struct doctor *d, char *lines)
{
  static const char advice[] = "mend or take out the setting; shunt options lists them all";
  static const char head[] = "shunt: ";
  char *rest;
  hide_root(d, lines);
  for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    doctor_find(&d->findings, DOCTOR_WARNING, "setting", advice, "%s",
                strncmp(line, head, sizeof head - 1) == 0 ? line + sizeof head - 1 : line);
}

void doctor_read_settings(struct doctor *d)
{
  const char *named = getenv("SHUNT_CONFIG");
  char path[PATH_MAX], *before = named ? strdup(named) : NULL, *lines = NULL;
  size_t room = 0;
  const bool moved = d->root[0] && before && before[0] == '/' && doctor_below(d->root, named, path);
  struct shunt_complaints complaints = {.to = open_memstream(&lines, &room)};
  if (moved) setenv("SHUNT_CONFIG", path, 1);
  shunt_options_read(&d->settings, &complaints);
  if (moved) setenv("SHUNT_CONFIG", before, 1);
  if (complaints.to && fclose(complaints.to) == 0) add_complaints(d, lines);
  free(lines);
  free(before);
}

static const struct shunt_option_setting *setting_of(const struct doctor *d, const char *name)
{
  return &d->settings.setting[shunt_option_index(name)];
}

const char *doctor_setting(const struct doctor *d, const char *name)
{
  return setting_of(d, name)->text;
}

/* Where a value is from, to be put behind it. */
static const char *source_of(const struct doctor *d, const char *name)
{
  return setting_of(d, name)->source == SHUNT_FROM_FILE ? " (in the file of SHUNT_CONFIG)" : "";
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Of the file's first line: "# shunt tune 1 build=0.1.0 gpu=...". */
static bool of_this_build(FILE *f)
{
  static const char head[] = "# shunt tune 1 build=" PACKAGE_VERSION " ";
  char line[512];
  return fgets(line, sizeof line, f) && strncmp(line, head, sizeof head - 1) == 0;
}

/* A file that is read only if nobody else could have written it (backend/options/user_file.h). */
static void check_tune_file(struct doctor *d, const char *named)
{
  static const char refused[] =
      "make it a regular file of yours that only you may write (chmod 600), or remove it";
  char path[PATH_MAX];
  struct stat s;
  const char *why;
  if (!doctor_below(d->root, named, path)) return;
  FILE *f = shunt_user_file_open(named[0] == '/' ? path : named, &why);
  if (why)
    doctor_find(&d->findings, DOCTOR_WARNING, "file", refused, "SHUNT_TUNE_FILE=%s is not used: %s",
                named, why);
  else if (!f)
    doctor_find(&d->findings, DOCTOR_NOTE, "file", NULL, "SHUNT_TUNE_FILE=%s does not exist yet",
                named);
  else if (!of_this_build(f))
    doctor_find(&d->findings, DOCTOR_WARNING, "file", "remove the file: it will be written anew",
                "SHUNT_TUNE_FILE=%s is not used: another build of Shunt wrote it", named);
  else
    doctor_find(&d->findings, DOCTOR_OK, "file", NULL, "SHUNT_TUNE_FILE=%s, owner %ld", named,
                fstat(fileno(f), &s) == 0 ? (long)s.st_uid : -1L);
  if (f) fclose(f);
}

/* A file that is appended to, or a folder: it, or else the one around it, must be writable. */
static void check_output(struct doctor *d, const char *variable)
{
  const char *named = doctor_setting(d, variable);
  char path[PATH_MAX], *slash;
  if (!named) return;
  if (named[0] == '/' ? !doctor_below(d->root, named, path)
                      : snprintf(path, sizeof path, "%s", named) >= PATH_MAX)
    return;
  for (size_t n = strlen(path); n > 1 && path[n - 1] == '/';) path[--n] = 0; /* made if it is not */
  bool good = access(path, W_OK) == 0;
  if (!good && access(path, F_OK) != 0) {
    slash = strrchr(path, '/');
    if (slash) *slash = 0;
    good = access(slash ? path : ".", W_OK) == 0;
  }
  if (good)
    doctor_find(&d->findings, DOCTOR_OK, "file", NULL, "%s=%s can be written", variable, named);
  else
    doctor_find(&d->findings, DOCTOR_WARNING, "file", "name a file in a folder that you may write",
                "%s=%s can't be written", variable, named);
}

/* ---- values --------------------------------------------------------------------------------- */

/* Is cuSPARSE named in front of Shunt's library?  Its functions are then found first. */
static bool original_comes_first(const char *preload)
{
  const char *original = strstr(preload, "libcusparse.so");
  const char *ours = strstr(preload, "libshunt-cusparse.so");
  return original && ours && original < ours;
}

static void check_loader_paths(struct doctor *d)
{
  const char *preload = getenv("LD_PRELOAD"), *folders = getenv("LD_LIBRARY_PATH");
  if (preload && original_comes_first(preload))
    doctor_find(&d->findings, DOCTOR_PROBLEM, "setting",
                "name libshunt-cusparse.so first in LD_PRELOAD, or leave it to shunt run",
                "LD_PRELOAD=%s: cuSPARSE stands in front of Shunt and gets every call", preload);
  else if (preload && *preload)
    doctor_find(&d->findings, DOCTOR_NOTE, "setting", NULL,
                "LD_PRELOAD=%s; Shunt's libraries go before it", preload);
  if (folders && strstr(folders, "/stubs"))
    doctor_find(&d->findings, DOCTOR_PROBLEM, "setting",
                "take the folder of stubs out of LD_LIBRARY_PATH: it is for linking only",
                "LD_LIBRARY_PATH=%s leads to a libcuda that does nothing", folders);
}

/* What takes all calls away from Shunt. */
static void check_off(struct doctor *d)
{
  const char *routes = doctor_setting(d, "SHUNT_ROUTES");
  if (d->settings.options.disable)
    doctor_find(&d->findings, DOCTOR_PROBLEM, "setting", "unset SHUNT_DISABLE",
                "SHUNT_DISABLE=1: every call is handed to the original%s",
                source_of(d, "SHUNT_DISABLE"));
  if (routes && strcmp(routes, "none") == 0)
    doctor_find(&d->findings, DOCTOR_PROBLEM, "setting", "unset SHUNT_ROUTES",
                "SHUNT_ROUTES=none: calls are counted, and none is taken%s",
                source_of(d, "SHUNT_ROUTES"));
}

/* All else that is set, but what has its own finding as a file or folder. */
static void list_settings(struct doctor *d)
{
  for (int i = 0; i < SHUNT_OPTION_COUNT; i++) {
    const struct shunt_option *o = &shunt_option_table[i];
    const char *text = d->settings.setting[i].text;
    if (!text || strcmp(text, o->otherwise) == 0) continue;
    if (strcmp(o->name, "SHUNT_TUNE_FILE") == 0 || strcmp(o->name, "SHUNT_LOG_FILE") == 0 ||
        strcmp(o->name, "SHUNT_REPORT") == 0 || strcmp(o->name, "SHUNT_DISABLE") == 0 ||
        (strcmp(o->name, "SHUNT_ROUTES") == 0 && strcmp(text, "none") == 0))
      continue;
    doctor_find(&d->findings, DOCTOR_NOTE, "setting", NULL, "%s=%s%s%s", o->name, text,
                o->kind == SHUNT_OPTION_ROUTES ? ": only these routes, wherever they are right"
                                               : "",
                source_of(d, o->name));
  }
}

void doctor_ask_settings(struct doctor *d)
{
  const char *tune = doctor_setting(d, "SHUNT_TUNE_FILE");
  check_off(d);
  list_settings(d);
  check_loader_paths(d);
  if (tune) check_tune_file(d, tune);
  check_output(d, "SHUNT_LOG_FILE");
  check_output(d, "SHUNT_REPORT");
}
