#define _GNU_SOURCE /* mkostemp */
#include "backend/options/user_file.h"

#include "backend/options/file_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *objection(const struct stat *s)
{
  if (!S_ISREG(s->st_mode)) return "it is no regular file";
  if (s->st_uid != geteuid() && s->st_uid != 0) return "it belongs to another user";
  if (s->st_mode & (S_IWGRP | S_IWOTH)) return "others may write it";
  return NULL;
}

FILE *shunt_user_file_open(const char *path, const char **why)
{
  const int saved_errno = errno;
  struct stat s;
  FILE *f = NULL;
  *why = NULL;
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ELOOP) *why = "it is a symbolic link";
    if (errno == EACCES) *why = "it may not be read";
  } else {
    *why = fstat(fd, &s) == 0 ? objection(&s) : "it has no state";
    if (!*why) f = fdopen(fd, "r");
    if (!f) close(fd);
  }
  errno = saved_errno;
  return f;
}

/* Prints to the open file and closes it. */
static bool fill(int fd, void (*print)(FILE *f, void *argument), void *argument)
{
  FILE *f = fdopen(fd, "w");
  if (!f) return close(fd), false;
  const struct shunt_file_limit limit = shunt_file_limit_begin();
  print(f, argument);
  bool good = !ferror(f);
  good = fclose(f) == 0 && good;
  shunt_file_limit_end(&limit);
  return good;
}

bool shunt_user_file_write(const char *path, void (*print)(FILE *f, void *argument), void *argument)
{
  const int saved_errno = errno;
  char fresh[PATH_MAX];
  struct stat s;
  bool good = false;
  const int length = snprintf(fresh, sizeof fresh, "%s.XXXXXX", path);
  const bool ours = lstat(path, &s) != 0 ? errno == ENOENT : !objection(&s);
  const int fd = ours && length < (int)sizeof fresh ? mkostemp(fresh, O_CLOEXEC) : -1;
  if (fd >= 0) {
    good = fill(fd, print, argument) && rename(fresh, path) == 0;
    if (!good) unlink(fresh);
  }
  errno = saved_errno;
  return good;
}
