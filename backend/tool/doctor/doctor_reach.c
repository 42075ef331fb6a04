/* doctor_reach.c: does LD_PRELOAD act on this program?  Not if it

     is of another class or machine than Shunt's libraries
     is linked statically: nobody reads LD_PRELOAD
     has another C library's loader (musl)
     runs with more rights than its caller (AT_SECURE): the loader ignores LD_PRELOAD
     lacks something that Shunt's libraries need  */
#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "backend/tool/doctor/doctor.h"

#define FIND(d, ...) doctor_find(&(d)->findings, DOCTOR_PROBLEM, "preload", __VA_ARGS__)

#if defined __aarch64__
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_X86_64 };
#endif

/* The class and machine that the preload is for. */
static bool right_machine(struct doctor *d, const struct doctor_object *o)
{
  struct doctor_elf e;
  char own[32], programs[32];
  int machine = OWN_MACHINE;
  if (d->library[0] && doctor_elf_open(d->library, &e) == DOCTOR_ELF_READ) {
    machine = e.machine;
    doctor_elf_close(&e);
  }
  if (o->elf.bits == 64 && o->elf.machine == machine) return true;
  FIND(d, "use a build of the program for this machine, or of Shunt for the program's",
       "%s is a %d-bit %s program; Shunt's libraries are 64-bit %s", doctor_shown(d, o->path),
       o->elf.bits, doctor_elf_machine(o->elf.machine, programs), doctor_elf_machine(machine, own));
  return false;
}

static bool reads_preload(struct doctor *d, const struct doctor_object *o)
{
  const char *loader = o->elf.interpreter;
  char path[PATH_MAX];
  if (!loader) {
    FIND(d,
         "link the program dynamically; a GraphBLAS program can be linked with "
         "libshunt-graphblas.a instead",
         "%s is linked statically: nothing reads LD_PRELOAD", doctor_shown(d, o->path));
    return false;
  }
  if (strncmp(doctor_base_name(loader), "ld-musl", 7) == 0) {
    FIND(d, "use a build of the program for glibc", "%s runs on musl; Shunt's libraries need glibc",
         doctor_shown(d, o->path));
    return false;
  }
  if (doctor_resolve(d->root, loader, path)) return true;
  FIND(d, "install the C library that the program was built for", "its loader %s is not found",
       loader);
  return false;
}

static bool is_plain(struct doctor *d, const struct doctor_object *o)
{
  static const char advice[] = "run a copy without these rights (cp makes one), or as that user";
  struct stat s;
  char capabilities[64];
  if (stat(o->path, &s) == 0 && (s.st_mode & (S_ISUID | S_ISGID))) {
    FIND(d, advice, "%s is set%s: the loader ignores LD_PRELOAD", doctor_shown(d, o->path),
         s.st_mode & S_ISUID ? "uid" : "gid");
    return false;
  }
  if (getxattr(o->path, "security.capability", capabilities, sizeof capabilities) > 0) {
    FIND(d, advice, "%s has file capabilities: the loader ignores LD_PRELOAD",
         doctor_shown(d, o->path));
    return false;
  }
  return true;
}

/* The C library of the program, among its objects. */
static int glibc_of(const struct doctor *d)
{
  for (int i = 0; i < d->objects.count; i++)
    if (strcmp(doctor_base_name(d->objects.list[i].path), "libc.so.6") == 0 ||
        (d->objects.list[i].elf.soname && strcmp(d->objects.list[i].elf.soname, "libc.so.6") == 0))
      return doctor_elf_glibc(&d->objects.list[i].elf);
  return 0;
}

/* Is all there that Shunt's library needs?  It becomes the last of the objects. */
static bool finds_all(struct doctor *d)
{
  struct doctor_elf e;
  char path[PATH_MAX];
  const int glibc = glibc_of(d), index = d->objects.count;
  bool good = true;
  if (!d->library[0] || doctor_elf_open(d->library, &e) != DOCTOR_ELF_READ) return false;
  if (glibc && doctor_elf_glibc(&e) > glibc) {
    FIND(d, "build Shunt on the older system, or use its wheel",
         "Shunt's libraries need glibc 2.%d; here it is 2.%d", doctor_elf_glibc(&e), glibc);
    good = false;
  }
  if (!doctor_add_object(&d->objects, d->library, e, -1, false)) return false;
  for (int i = 0; i < d->objects.list[index].elf.needed_count; i++) {
    const char *name = d->objects.list[index].elf.needed[i];
    if (doctor_search(d, index, name, path)) continue;
    FIND(d, "install the library that Shunt needs (libgomp.so.1 is in the package libgomp1)",
         "%s, needed by %s, is not found: the loader drops it", name, doctor_base_name(d->library));
    good = false;
  }
  return good;
}

void doctor_ask_reach(struct doctor *d)
{
  const struct doctor_object *o = &d->objects.list[0];
  if (right_machine(d, o) && reads_preload(d, o) && is_plain(d, o) && finds_all(d))
    doctor_find(&d->findings, DOCTOR_OK, "preload", NULL, "LD_PRELOAD acts on %s",
                doctor_shown(d, d->objects.list[0].path));
}
