/* doctor_shared.c: the tables by which processes share the memory of a device.

     /dev/shm/shunt-USER-PIDS-DEVICE       backend/plan/memory/budget.h

   A table is trusted if it is a regular file of the user's that nobody else may read or write.
   Those that others left say who has Shunt running on which device.  */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/tool/doctor/doctor.h"

static const char folder[] = "/dev/shm";

/* The user's number in "shunt-1000-f00-0123...", a table's name; -1: it is none. */
static long user_of(const char *name)
{
  char *rest;
  if (strncmp(name, "shunt-", 6) != 0 || !isdigit((unsigned char)name[6])) return -1;
  const long user = strtol(name + 6, &rest, 10);
  const size_t pids = *rest == '-' ? strspn(rest + 1, "0123456789abcdef") : 0;
  if (pids == 0 || rest[1 + pids] != '-') return -1;
  const char *device = rest + 2 + pids;
  return strspn(device, "0123456789abcdef") == 32 && device[32] == 0 ? user : -1;
}

static const char *objection(const struct stat *s, long user)
{
  if (!S_ISREG(s->st_mode)) return "it is no regular file";
  if ((long)s->st_uid != user) return "it belongs to another user than its name says";
  if (s->st_mode & 077) return "others may read or write it";
  return NULL;
}

static void check_table(struct doctor *d, const char *where, const char *name, long user)
{
  char path[PATH_MAX];
  struct stat s;
  if (snprintf(path, sizeof path, "%.2000s/%.255s", where, name) >= PATH_MAX ||
      lstat(path, &s) != 0)
    return;
  const char *why = objection(&s, user);
  if (user != (long)geteuid())
    doctor_find(&d->findings, DOCTOR_NOTE, "shared", NULL, "%s/%s, owner %ld: another user's",
                folder, name, (long)s.st_uid);
  else if (why)
    doctor_find(&d->findings, DOCTOR_WARNING, "shared",
                "remove the file: until then processes do not know what the others keep",
                "%s/%s, owner %ld, is not used: %s", folder, name, (long)s.st_uid, why);
  else
    doctor_find(&d->findings, DOCTOR_OK, "shared", NULL,
                "%s/%s, owner %ld: processes share the memory for copies by it", folder, name,
                (long)s.st_uid);
}

void doctor_ask_shared(struct doctor *d)
{
  enum { MOST = 16 };
  char path[PATH_MAX];
  struct dirent *e;
  int tables = 0;
  d->findings.about = DOCTOR_CUSPARSE;
  DIR *dir = doctor_resolve(d->root, folder, path) ? opendir(path) : NULL;
  while (dir && tables < MOST && (e = readdir(dir))) {
    const long user = user_of(e->d_name);
    if (user < 0) continue;
    tables++;
    check_table(d, path, e->d_name, user);
  }
  if (dir) closedir(dir);
  d->findings.about = DOCTOR_KINDS;
}
