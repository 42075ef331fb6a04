/* doctor_install.c: Shunt's own libraries: are they there, of this version, and for this GPU?

   Each carries a text (backend/loader/build_note.c): "0.1.0 cuda=13000 ... code=sm_90 ...".  */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/tool/doctor/doctor.h"

#ifndef PKGLIBDIR
#define PKGLIBDIR "/usr/local/lib/shunt"
#endif

static const char again[] = "build and install Shunt again, all of it";

/* ---- where ---------------------------------------------------------------------------------- */

static bool holds(const struct doctor *d, const char *folder, const char *object,
                  char out[PATH_MAX])
{
  char path[PATH_MAX];
  return snprintf(path, sizeof path, "%s/%s", folder, object) < PATH_MAX &&
         doctor_resolve(d->root, path, out);
}

/* Seen from inside the root.  The same places as `shunt run` (launch.c), but for its own folder
   where the root is another's.  */
static const char *find_folder(const struct doctor *d, char own[PATH_MAX])
{
  static const char *const places[] = {PKGLIBDIR, "/usr/local/lib/shunt", "/usr/lib/shunt", NULL};
  static const char *const near[] = {"../lib/shunt", "../lib64/shunt", ".libs", ".", NULL};
  char here[PATH_MAX], path[PATH_MAX];
  const char *named = doctor_setting(d, "SHUNT_LIBDIR");
  if (named) return named;
  if (!d->root[0] && launch_own_folder(here, sizeof here))
    for (int i = 0; near[i]; i++)
      if (snprintf(own, PATH_MAX, "%s/%s", here, near[i]) < PATH_MAX &&
          (holds(d, own, "libshunt-cusparse.so", path) ||
           holds(d, own, "libshunt-graphblas.so", path)))
        return own;
  for (int i = 0; places[i]; i++)
    if (holds(d, places[i], "libshunt-graphblas.so", path)) return places[i];
  return PKGLIBDIR;
}

/* ---- for which GPU -------------------------------------------------------------------------- */

/* Has the build code for this compute capability: machine code of the same generation, or PTX that
   is no newer?  */
static bool serves(const char *build, int architecture)
{
  for (const char *c = strstr(build, "code="); c; c = strstr(c + 1, "code=")) {
    const bool machine = strncmp(c + 5, "sm_", 3) == 0;
    const int target = atoi(c + (machine ? 8 : 13)); /* code=sm_90, code=compute_90 */
    if (target <= architecture && (!machine || target / 10 == architecture / 10)) return true;
  }
  return false;
}

/* "90, 100": the machine code of a build. */
static void list_architectures(const char *build, char *out, size_t room)
{
  size_t used = 0;
  out[0] = 0;
  for (const char *c = strstr(build, "code=sm_"); c && used < room; c = strstr(c + 1, "code=sm_")) {
    const int n = atoi(c + 8);
    used += (size_t)snprintf(out + used, room - used, "%s%d.%d", used ? ", " : "", n / 10, n % 10);
  }
}

/* Some kernels exist by wgmma alone, which PTX of no build has. */
static bool has_wgmma(const char *build, int architecture)
{
  return architecture == 90 && strstr(build, "code=sm_90");
}

static void check_gpu(struct doctor *d, const char *build)
{
  char list[128];
  const char *cuda = strstr(build, "cuda=");
  const int needs = cuda ? atoi(cuda + 5) : 0;
  list_architectures(build, list, sizeof list);
  if (d->architecture && !serves(build, d->architecture))
    doctor_find(&d->findings, DOCTOR_PROBLEM, "shunt", "configure with --with-cuda-arch=ARCH",
                "built for compute capability %s; this GPU has %d.%d", list, d->architecture / 10,
                d->architecture % 10);
  else if (d->driver_cuda && d->driver_cuda / 1000 < needs / 1000)
    doctor_find(&d->findings, DOCTOR_PROBLEM, "shunt",
                "update the driver, or build Shunt with an older toolkit",
                "built with CUDA %d.%d; the driver knows CUDA up to %d.%d", needs / 1000,
                needs % 1000 / 10, d->driver_cuda / 1000, d->driver_cuda % 1000 / 10);
  else if (d->architecture && !has_wgmma(build, d->architecture))
    doctor_find(
        &d->findings, DOCTOR_NOTE, "shunt", NULL,
        "no wgmma, which compute capability 9.0 alone has, in a build for it: route sparse24 "
        "takes nothing, and dense products are cuBLAS's");
}

/* A build for tests may have got where programs run. */
static void check_optimized(struct doctor *d, const char *build)
{
  if (strstr(build, "-Ofc"))
    doctor_find(&d->findings, DOCTOR_WARNING, "shunt", "configure without --enable-fast-compile",
                "its device code is not optimized: calls are slower than without Shunt");
}

/* ---- one library ---------------------------------------------------------------------------- */

/* Is it this version's?  Adds a finding if not. */
static bool check_version(struct doctor *d, const char *object, const char *build)
{
  const size_t n = build ? strcspn(build, " ") : 0;
  if (!build)
    doctor_find(&d->findings, DOCTOR_PROBLEM, "shunt", again,
                "stale build: %s says no version, this is shunt " PACKAGE_VERSION, object);
  else if (n != strlen(PACKAGE_VERSION) || strncmp(build, PACKAGE_VERSION, n) != 0)
    doctor_find(&d->findings, DOCTOR_PROBLEM, "shunt", again,
                "stale build: %s is version %.*s, this is shunt " PACKAGE_VERSION, object, (int)n,
                build);
  else
    return true;
  return false;
}

static void check_library(struct doctor *d, const char *folder, const char *object, bool needed)
{
  char path[PATH_MAX], list[128];
  struct doctor_elf e;
  if (!holds(d, folder, object, path)) {
    if (needed)
      doctor_find(&d->findings, DOCTOR_PROBLEM, "shunt",
                  "install Shunt (with CUDA for cuSPARSE), or set SHUNT_LIBDIR to its folder",
                  "%s is not in %s", object, folder);
    return;
  }
  if (doctor_elf_open(path, &e) != DOCTOR_ELF_READ) {
    doctor_find(&d->findings, DOCTOR_PROBLEM, "shunt", again, "%s/%s can't be read", folder,
                object);
    return;
  }
  const char *build = doctor_elf_build(&e);
  if (!d->library[0]) strcpy(d->library, path);
  if (strcmp(object, "libshunt-dlsym.so") == 0) d->has_dlsym = true;
  if (check_version(d, object, build)) {
    list_architectures(build, list, sizeof list);
    doctor_find(&d->findings, DOCTOR_OK, "shunt", NULL, PACKAGE_VERSION ", %s/%s%s%s", folder,
                object, list[0] ? ", compute capability " : "", list);
    if (strcmp(object, "libshunt-cusparse.so") == 0 && d->wants[DOCTOR_CUSPARSE]) {
      check_gpu(d, build);
      check_optimized(d, build);
    }
  }
  doctor_elf_close(&e);
}

void doctor_ask_install(struct doctor *d)
{
  char own[PATH_MAX];
  const char *folder = find_folder(d, own);
  d->findings.about = DOCTOR_CUSPARSE;
  check_library(d, folder, "libshunt-cusparse.so", d->wants[DOCTOR_CUSPARSE]);
  check_library(d, folder, "libshunt-dlsym.so", false);
  d->findings.about = DOCTOR_GRAPHBLAS;
  check_library(d, folder, "libshunt-graphblas.so", d->wants[DOCTOR_GRAPHBLAS]);
  d->findings.about = DOCTOR_KINDS;
  if (strpbrk(folder, ": \t"))
    doctor_find(&d->findings, DOCTOR_PROBLEM, "shunt", "install Shunt into another folder",
                "LD_PRELOAD can't hold the folder's name: %s", folder);
}
