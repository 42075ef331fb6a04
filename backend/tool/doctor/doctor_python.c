/* doctor_python.c: what a Python program could import: of the extension modules and libraries below
   the folders of packages, those that are a cuSPARSE or a GraphBLAS, or use one.

   Which of them a script does import is not known before it runs.  The folders are those that
   site.py would take, found without running it:

     <prefix>/lib/python3.N/{site,dist}-packages   <prefix> above the interpreter; a virtual
     <prefix>/lib/python3/dist-packages            environment's pyvenv.cfg stands there, and may
     ~/.local/lib/python3.N/site-packages          let in the packages of the Python below it
     PYTHONPATH  */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/tool/doctor/doctor.h"

enum { MOST_DEPTH = 6, MOST_FILES = 50000 };

struct walk {
  struct doctor *d;
  int files;
};

static bool is_library(const char *name)
{
  const char *so = strstr(name, ".so");
  return so && (so[3] == 0 || so[3] == '.');
}

static bool concerns(const struct doctor_object *o)
{
  for (int k = 0; k < DOCTOR_KINDS; k++)
    if (o->use[k].refers || o->use[k].defines || o->use[k].opens) return true;
  return false;
}

static bool is_known(const struct doctor *d, const char *path)
{
  for (int i = 0; i < d->objects.count; i++)
    if (strcmp(d->objects.list[i].path, path) == 0) return true;
  return false;
}

static void look_at_file(struct walk *w, const char *path)
{
  struct doctor_object o = {.loader = -1};
  char real[PATH_MAX];
  w->files++;
  if (!doctor_resolve(w->d->root, doctor_shown(w->d, path), real) || is_known(w->d, real)) return;
  if (doctor_elf_open(real, &o.elf) != DOCTOR_ELF_READ) return;
  doctor_read_uses(&o);
  if (concerns(&o))
    doctor_add_object(&w->d->objects, real, o.elf, -1, true);
  else
    doctor_elf_close(&o.elf);
}

/* Every library below the folder; links to folders are not followed. */
static void walk_folder(struct walk *w, const char *folder, int depth)
{
  char path[PATH_MAX];
  struct dirent *e;
  DIR *dir = opendir(folder);
  while (dir && (e = readdir(dir)) && w->files < MOST_FILES) {
    struct stat s;
    if (e->d_name[0] == '.' || strcmp(e->d_name, "__pycache__") == 0) continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path) continue;
    if (lstat(path, &s) != 0) continue;
    if (S_ISDIR(s.st_mode) && depth < MOST_DEPTH) walk_folder(w, path, depth + 1);
    if (!S_ISDIR(s.st_mode) && is_library(e->d_name)) look_at_file(w, path);
  }
  if (dir) closedir(dir);
}

/* `folder` is seen from inside the root. */
static void walk_packages(struct walk *w, const char *folder)
{
  char path[PATH_MAX];
  if (doctor_resolve(w->d->root, folder, path)) walk_folder(w, path, 0);
}

/* The number of "python3.11", or 0. */
static int minor_of(const char *name)
{
  const char *dot = strncmp(name, "python3.", 8) == 0 ? name + 7 : NULL;
  return dot ? atoi(dot + 1) : 0;
}

/* Packages of all Pythons 3 below prefix, or of 3.minor only. */
static void walk_prefix(struct walk *w, const char *prefix, int minor)
{
  char lib[PATH_MAX], host[PATH_MAX], folder[2 * PATH_MAX];
  struct dirent *e;
  snprintf(lib, sizeof lib, "%.4000s/lib", prefix);
  if (!doctor_resolve(w->d->root, lib, host)) return;
  DIR *dir = opendir(host);
  while (dir && (e = readdir(dir))) {
    if (strncmp(e->d_name, "python3", 7) != 0) continue;
    if (minor && strcmp(e->d_name, "python3") != 0 && minor_of(e->d_name) != minor) continue;
    snprintf(folder, sizeof folder, "%s/%s/site-packages", lib, e->d_name);
    walk_packages(w, folder);
    snprintf(folder, sizeof folder, "%s/%s/dist-packages", lib, e->d_name);
    walk_packages(w, folder);
  }
  if (dir) closedir(dir);
}

/* Reads prefix/pyvenv.cfg.  True: it is a virtual environment that lets in no others' packages. */
static bool is_closed_venv(const struct doctor *d, const char *prefix)
{
  char path[PATH_MAX], host[PATH_MAX], line[PATH_MAX];
  bool closed = true;
  snprintf(path, sizeof path, "%.4000s/pyvenv.cfg", prefix);
  FILE *f = doctor_resolve(d->root, path, host) ? fopen(host, "r") : NULL;
  if (!f) return false;
  while (fgets(line, sizeof line, f))
    if (strncmp(line, "include-system-site-packages", 28) == 0 && strstr(line, "true"))
      closed = false;
  fclose(f);
  return closed;
}

static void walk_list(struct walk *w, const char *list)
{
  char folder[PATH_MAX];
  while (list && *list) {
    const size_t n = strcspn(list, ":");
    snprintf(folder, sizeof folder, "%.*s", (int)n, list);
    if (n) walk_packages(w, folder);
    list += n + (list[n] != 0);
  }
}

/* The folder two above: /usr for /usr/bin/python3. */
static void prefix_of(const char *interpreter, char out[PATH_MAX])
{
  snprintf(out, PATH_MAX, "%s", interpreter);
  for (int i = 0; i < 2; i++) {
    char *slash = strrchr(out, '/');
    if (slash) *slash = 0;
  }
}

void doctor_read_python(struct doctor *d, const char *interpreter)
{
  struct walk w = {d, 0};
  char named[PATH_MAX], real[PATH_MAX], prefix[PATH_MAX], local[PATH_MAX];
  const int before = d->objects.count;
  prefix_of(interpreter, named);
  snprintf(real, sizeof real, "%s", doctor_shown(d, d->objects.list[0].path));
  const int minor = minor_of(doctor_base_name(real));
  prefix_of(real, prefix);
  walk_list(&w, getenv("PYTHONPATH"));
  walk_prefix(&w, named, minor);
  if (!is_closed_venv(d, named)) {
    const char *home = d->root[0] ? NULL : getenv("HOME");
    if (strcmp(named, prefix) != 0) walk_prefix(&w, prefix, minor);
    snprintf(local, sizeof local, "%.4000s/local", prefix);
    walk_prefix(&w, local, minor);
    snprintf(local, sizeof local, "%.4000s/.local", home ? home : "/root");
    walk_prefix(&w, local, minor);
  }
  doctor_find(&d->findings, DOCTOR_NOTE, "python", NULL,
              "%d libraries of packages read, %d have to do with cuSPARSE or GraphBLAS", w.files,
              d->objects.count - before);
}
