/* doctor_bindings.c: copies of cuSPARSE and GraphBLAS, and who binds them how.

   | binding                       | reached by the preload                        |
   | linked (DT_NEEDED)            | yes: references go to the global scope first  |
   | linked, opened by Python      | yes: a local scope comes after the global one |
   | by name (dlopen, dlsym)       | cuSPARSE by libshunt-dlsym.so; GraphBLAS no   |
   | contained (linked statically) | no                                            |
   | opened with RTLD_DEEPBIND     | no; the flag is in no file, so it can't be told |  */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tool/doctor/doctor.h"
#include "backend/tool/doctor/doctor_versions.h"

static const struct {
  const char *name, *stem;
  const char *files[5]; /* what programs open by name */
  struct doctor_tested tested;
} kinds[DOCTOR_KINDS] = {
    [DOCTOR_CUSPARSE] = {"cuSPARSE",
                         "libcusparse",
                         {"libcusparse.so", "libcusparse.so.12", "libcusparse.so.13", NULL},
                         DOCTOR_TESTED_CUSPARSE},
    [DOCTOR_GRAPHBLAS] = {
        "GraphBLAS",
        "libgraphblas",
        {"libgraphblas.so", "libgraphblas.so.10", "libgraphblas.so.9", "libgraphblas.so.7", NULL},
        DOCTOR_TESTED_GRAPHBLAS}};

static bool is_ours(const struct doctor_object *o)
{
  return strncmp(doctor_base_name(o->path), "libshunt", 8) == 0;
}

static bool is_copy(const struct doctor_object *o, int k)
{
  return o->use[k].defines &&
         strncmp(doctor_base_name(o->path), kinds[k].stem, strlen(kinds[k].stem)) == 0;
}

static bool is_user(const struct doctor_object *o, int k)
{
  const struct doctor_use *u = &o->use[k];
  return !is_ours(o) && !is_copy(o, k) && (u->refers || u->defines || u->opens);
}

/* ---- copies that only a user of the library leads to ---------------------------------------- */

static bool add_copy(struct doctor *d, int user, const char *name)
{
  char path[PATH_MAX];
  struct doctor_elf e;
  if (!doctor_search(d, user, name, path)) return false;
  for (int i = 0; i < d->objects.count; i++)
    if (strcmp(d->objects.list[i].path, path) == 0) return true;
  if (doctor_elf_open(path, &e) != DOCTOR_ELF_READ) return false;
  return doctor_add_object(&d->objects, path, e, user, true) != NULL;
}

static void add_copies(struct doctor *d, int k)
{
  for (int i = 0; i < d->objects.count; i++) {
    if (!is_user(&d->objects.list[i], k)) continue;
    for (int j = 0; j < d->objects.list[i].elf.needed_count; j++)
      if (strncmp(d->objects.list[i].elf.needed[j], kinds[k].stem, strlen(kinds[k].stem)) == 0)
        add_copy(d, i, d->objects.list[i].elf.needed[j]);
    for (int j = 0; d->objects.list[i].use[k].opens && kinds[k].files[j]; j++)
      if (add_copy(d, i, kinds[k].files[j])) break;
  }
}

/* ---- versions ------------------------------------------------------------------------------- */

/* The number after ".so." in the file's name. */
static bool version_of_name(const char *path, char out[32])
{
  const char *so = strstr(doctor_base_name(path), ".so.");
  return so && so[4] && snprintf(out, 32, "%s", so + 4) < 32;
}

/* The number in the name of a wheel's record, nvidia_cusparse_cu12-12.6.3.3.dist-info, in a folder
   above the library.  */
static bool version_of_wheel(const char *path, char out[32])
{
  char folder[PATH_MAX];
  struct dirent *e;
  bool found = false;
  snprintf(folder, sizeof folder, "%s", path);
  for (int up = 0; up < 4 && !found; up++) {
    char *slash = strrchr(folder, '/');
    if (!slash) return false;
    *slash = 0;
    DIR *dir = opendir(folder);
    while (dir && !found && (e = readdir(dir))) {
      const char *dash = strrchr(e->d_name, '-'), *end = strstr(e->d_name, ".dist-info");
      if (strncmp(e->d_name, "nvidia_cusparse", 15) != 0 ||
          strncmp(e->d_name, "nvidia_cusparselt", 17) == 0 || !end)
        continue;
      for (dash = end; dash > e->d_name && *dash != '-';) dash--;
      found = snprintf(out, 32, "%.*s", (int)(end - dash - 1), dash + 1) < 32;
    }
    if (dir) closedir(dir);
  }
  return found;
}

/* "libcusparse" : { ..., "version" : "12.6.3.3" } in a toolkit's version.json, two folders up. */
static bool version_of_toolkit(const char *path, char out[32])
{
  char file[PATH_MAX + 16], text[1 << 14];
  snprintf(file, sizeof file, "%s", path);
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(file, '/');
    if (slash) *slash = 0;
  }
  strcat(file, "/version.json");
  FILE *f = fopen(file, "r");
  if (!f) return false;
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  const char *at = strstr(text, "\"libcusparse\"");
  if (at) at = strstr(at, "\"version\"");
  if (at) at = strchr(at + 9, '"');
  if (!at) return false;
  const size_t n = strcspn(at + 1, "\"");
  return n < 32 && snprintf(out, 32, "%.*s", (int)n, at + 1) > 0;
}

static void read_version(const struct doctor_object *o, int k, char out[32])
{
  if (version_of_name(o->path, out) && strchr(out, '.')) return;
  if (k == DOCTOR_CUSPARSE && (version_of_wheel(o->path, out) || version_of_toolkit(o->path, out)))
    return;
  if (!version_of_name(o->path, out)) out[0] = 0;
}

static void report_version(struct doctor *d, int k, const struct doctor_object *o)
{
  char version[32];
  int major = 0, minor = -1;
  const struct doctor_tested *t = &kinds[k].tested;
  const char *where = doctor_shown(d, o->path);
  read_version(o, k, version);
  const int numbers = sscanf(version, "%d.%d", &major, &minor);
  if (numbers < 1)
    doctor_find(&d->findings, DOCTOR_NOTE, kinds[k].name, NULL, "version not known, %s", where);
  else if (major < t->from_major || (major == t->from_major && minor >= 0 && minor < t->from_minor))
    doctor_find(&d->findings, t->older, kinds[k].name, t->advice, "%s is older than %d.%d, %s: %s",
                version, t->from_major, t->from_minor, t->why, where);
  else if (major > t->to_major || (major == t->to_major && minor > t->to_minor))
    doctor_find(&d->findings, DOCTOR_WARNING, kinds[k].name,
                "compare results once with SHUNT_ROUTES=none",
                "%s is newer than those tested (%s): %s", version, t->list, where);
  else if (numbers < 2)
    doctor_find(&d->findings, DOCTOR_OK, kinds[k].name, NULL, "%s (no file tells more), %s",
                version, where);
  else
    doctor_find(&d->findings, DOCTOR_OK, kinds[k].name, NULL, "%s, %s", version, where);
}

/* ---- bindings ------------------------------------------------------------------------------- */

/* libshunt-dlsym.so hands out functions of cuSPARSE only. */
static void describe_opener(struct doctor *d, int k, const struct doctor_object *o)
{
  const char *name = doctor_base_name(o->path);
  if (k == DOCTOR_GRAPHBLAS)
    doctor_find(&d->findings, o->local ? DOCTOR_WARNING : DOCTOR_PROBLEM, "binding",
                "link the program to libgraphblas.so",
                "%s binds GraphBLAS by name (dlopen, dlsym): not reached", name);
  else if (d->has_dlsym)
    doctor_find(&d->findings, DOCTOR_OK, "binding", NULL,
                "%s binds cuSPARSE by name (dlopen, dlsym): reached by libshunt-dlsym.so, unless "
                "opened with RTLD_DEEPBIND",
                name);
  else
    doctor_find(&d->findings, DOCTOR_PROBLEM, "binding",
                "install libshunt-dlsym.so beside Shunt's other libraries",
                "%s binds cuSPARSE by name (dlopen, dlsym): not reached without libshunt-dlsym.so",
                name);
}

static void describe_user(struct doctor *d, int k, const struct doctor_object *o)
{
  const struct doctor_use *u = &o->use[k];
  const char *name = doctor_base_name(o->path), *library = kinds[k].name;
  struct doctor_findings *f = &d->findings;
  if (u->defines && u->exports && o != &d->objects.list[0] && !o->elf.symbolic)
    doctor_find(f, DOCTOR_WARNING, "binding", "link it to the shared library",
                "%s contains %s and exports it: calls from outside are reached, its own may not be",
                name, library);
  else if (u->defines) /* a package that Python may never import is no reason to give up */
    doctor_find(f, o->local ? DOCTOR_WARNING : DOCTOR_PROBLEM, "binding",
                k == DOCTOR_CUSPARSE
                    ? "link the program to libcusparse.so, not libcusparse_static.a"
                    : "link the program to libgraphblas.so, or also with "
                      "libshunt-graphblas.a and -Wl,--wrap=GrB_mxm",
                "%s contains %s (linked statically): its calls are not reached", name, library);
  else if (u->opens)
    describe_opener(d, k, o);
  else
    doctor_find(f, u->calls ? DOCTOR_OK : DOCTOR_NOTE, "binding", NULL, "%s is linked to %s%s: %s",
                name, library, o->local ? ", in a local scope" : "",
                u->calls ? "reached" : "calls nothing that Shunt takes");
}

static void ask_kind(struct doctor *d, int k)
{
  int copies = 0;
  add_copies(d, k);
  for (int i = 0; i < d->objects.count; i++) {
    if (!is_copy(&d->objects.list[i], k)) continue;
    copies++;
    report_version(d, k, &d->objects.list[i]);
  }
  if (copies > 1)
    doctor_find(&d->findings, DOCTOR_WARNING, kinds[k].name,
                "let there be one copy: uninstall the others, or take them out of LD_LIBRARY_PATH",
                "%d copies could be loaded; each call goes to the one that its caller binds",
                copies);
  for (int i = 0; i < d->objects.count; i++)
    if (is_user(&d->objects.list[i], k)) describe_user(d, k, &d->objects.list[i]);
}

void doctor_ask_bindings(struct doctor *d)
{
  for (int k = 0; k < DOCTOR_KINDS; k++) ask_kind(d, k);
  d->findings.idle = !d->wants[DOCTOR_CUSPARSE] && !d->wants[DOCTOR_GRAPHBLAS];
  if (d->findings.idle)
    doctor_find(&d->findings, DOCTOR_WARNING, "binding",
                "if the program opens them itself, see what `shunt run` reports",
                "no file of it names a function of cuSPARSE or GraphBLAS");
}
