/* doctor_settings.c: environment variables that decide what Shunt does, and the files they name. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/options/user_file.h"
#include "backend/tool/doctor/doctor.h"

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
static void check_output(struct doctor *d, const char *variable, const char *named)
{
  char path[PATH_MAX], *slash;
  if (!named || !*named) return;
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

static void check_loader_paths(struct doctor *d)
{
  const char *preload = getenv("LD_PRELOAD"), *folders = getenv("LD_LIBRARY_PATH");
  if (preload && *preload)
    doctor_find(&d->findings, DOCTOR_NOTE, "setting", NULL,
                "LD_PRELOAD=%s; Shunt's libraries go before it", preload);
  if (folders && strstr(folders, "/stubs"))
    doctor_find(&d->findings, DOCTOR_PROBLEM, "setting",
                "take the folder of stubs out of LD_LIBRARY_PATH: it is for linking only",
                "LD_LIBRARY_PATH=%s leads to a libcuda that does nothing", folders);
}

void doctor_ask_settings(struct doctor *d)
{
  const char *routes = getenv("SHUNT_ROUTES"), *tune = getenv("SHUNT_TUNE_FILE");
  if (routes && strcmp(routes, "none") == 0)
    doctor_find(&d->findings, DOCTOR_PROBLEM, "setting", "unset SHUNT_ROUTES",
                "SHUNT_ROUTES=none: no call is taken");
  else if (routes && *routes && strcmp(routes, "all") != 0)
    doctor_find(&d->findings, DOCTOR_NOTE, "setting", NULL,
                "SHUNT_ROUTES=%s: only these routes, wherever they are right", routes);
  check_loader_paths(d);
  if (tune && *tune) check_tune_file(d, tune);
  check_output(d, "SHUNT_LOG_FILE", getenv("SHUNT_LOG_FILE"));
  check_output(d, "SHUNT_REPORT", getenv("SHUNT_REPORT"));
}
